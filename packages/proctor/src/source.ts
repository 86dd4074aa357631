import type { TaskFolder } from './task-format.ts';

/**
 * Contract: a benchmark source finds task folders. It must not compile or run them, hide a folder that looks like a task, or write anywhere but
 * below `scratch`. Order is stable.
 */
export interface Source {
  summary: string;
  /** True when `reference` is this source's to read. */
  accepts(reference: string): Promise<boolean>;
  discover(reference: string, options: DiscoverOptions): Promise<DiscoveredFolder[]>;
}

export type DiscoverOptions = {
  markers: readonly string[];
  scratch: string;
  /** Called for what looks like a task folder and is none: a link, an unreadable directory, one without a marker. */
  onRejected?: (candidate: { path: string; reason: string }) => void;
};

export type DiscoveredFolder = { folder: TaskFolder; marker: string; commit: string | null };
