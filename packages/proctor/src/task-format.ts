import type { FieldAccount, Issue } from './domain/issue.ts';
import type { CompiledTask, FileTree } from './domain/task.ts';

/**
 * Contract: a task format recognizes, parses and maps one task folder. It must not run anything, reach a network or an engine, drop a key
 * silently, or read outside the folder. Bad input gives issues, never an exception.
 */
export interface TaskFormat {
  summary: string;
  /** The file whose presence makes a directory a candidate, e.g. `task.toml`. */
  marker: string;
  compile(folder: TaskFolder, options: CompileOptions): Promise<CompileResult>;
}

export type CompileOptions = {
  strictFiles: boolean;
  materializeLinks: boolean;
  /** Total of task file, instruction, tests, solution and steps. Default 64 MiB. */
  maxTaskBytes: number;
};

export type CompileResult =
  | ({ kind: 'compiled'; warnings: Issue[] } & CompiledTask)
  /** `account` as far as the source could be read. */
  | { kind: 'refused'; name: string; issues: Issue[]; account?: FieldAccount[] };

/** A task folder as the edge reads it. Paths are relative and POSIX. */
export interface TaskFolder {
  /** Absolute host path. */
  readonly root: string;
  readonly name: string;
  /** Regular UTF-8 file up to 1 MiB, else an issue; null = there is no such path. */
  readText(path: string, options?: { materializeLinks: boolean }): Promise<{ text: string } | { issue: Issue } | null>;
  /** Every regular file below `path`, hashed and sorted; links, FIFOs, sockets and devices are issues; null = no such directory. */
  readTree(path: string, options: ReadTreeOptions): Promise<{ tree: FileTree; issues: Issue[]; texts: ReadonlyMap<string, string> } | null>;
  kindOf(path: string): Promise<'file' | 'directory' | 'link' | 'other' | null>;
}

export type ReadTreeOptions = {
  materializeLinks: boolean;
  /** Without the look at UTF-8 that `asset` needs. */
  sizeOnly?: boolean;
  /** File names (without directory) whose text is wanted: by path, for those that are UTF-8 of at most 1 MiB. */
  texts?: readonly string[];
};
