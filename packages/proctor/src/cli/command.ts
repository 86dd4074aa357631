import type { Given } from './given.ts';
import type { Terminal } from './terminal.ts';

/** One command as the table declares it: enough for help and completion without loading what it does. */
export type CommandSpec = {
  name: string;
  /** In commander's notation: `<dir>`, `[session]`, `<tasks...>`. */
  arguments?: string;
  summary: string;
  /** Shown below the summary by --help. */
  details?: string;
  examples?: readonly Example[];
  options?: readonly OptionSpec[];
  /** What this command's exit codes mean, where it says more than the usual. */
  exits?: Readonly<Partial<Record<0 | 1 | 2 | 3, string>>>;
  /** Left out of help and completion. */
  hidden?: true;
  commands?: readonly CommandSpec[];
  load?: () => Promise<{ run: Run }>;
};

export type Example = { line: string; says: string };

export type OptionSpec = {
  /** In commander's notation: `--repeat <n>`, `--no-build`. */
  flags: string;
  summary: string;
  /** Reads and checks the text; a repeated option collects what it returns. */
  value?: (text: string, flag: string) => string | number;
  repeats?: true;
  choices?: readonly string[];
  /** Completed as a path by the shell. */
  path?: true;
  group?: string;
};

/** Resolves with the exit code. */
export type Run = (call: Call) => Promise<number>;

export type Call = {
  /** `eval experiment` */
  name: string;
  words: readonly string[];
  given: Given;
  terminal: Terminal;
  /** Absolute path of the store. */
  home: string;
};
