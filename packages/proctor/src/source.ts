import type { TaskFolder } from './task-format.ts';

/**
 * Contract: a benchmark source finds task folders. It must not compile or run them, hide a folder that looks like a task, or write anywhere but
 * below `scratch`. Order is stable.
 */
export interface Source {
  summary: string;
  /** True when `reference` is this source's to read. */
  accepts(reference: string): Promise<boolean>;
  discover(reference: string, options: { markers: readonly string[]; scratch: string }): Promise<DiscoveredFolder[]>;
}

export type DiscoveredFolder = { folder: TaskFolder; marker: string; commit: string | null };
