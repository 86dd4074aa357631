import type { AgentSpec, KeepOptions, KeptFile } from './domain/agent-version.ts';
import type { FileTree, Task } from './domain/task.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * Contract: an agent says what must be in the sandbox and how it is driven. It must not hold a lease, read hidden verifier files, choose its own
 * limits, or report its own success as a verdict.
 */
export interface Agent {
  /** Uploaded before setup. */
  files?: { tree: FileTree; target: string }[];
  /** Run once per image and agent digest as root, under its own clock. */
  setup?: readonly string[];
  /** For every exec of the agent. Values of `redact` never reach an event, log or report. */
  environment: Readonly<Record<string, string>>;
  redact: readonly string[];
  /** The agent's own limit, when the Task has none. */
  timeLimitMs: number | null;
  speaks: Speaks;
}

export type Speaks =
  /** A new process per Run; feedback by file. Paths in argv are sandbox paths. */
  | { kind: 'command'; argv: readonly string[] }
  /** Works on the sandbox from outside, in our process. */
  | { kind: 'driver'; drive(work: DriverWork): Promise<AgentEnd> };

export type DriverWork = {
  exec: Sandbox['exec'];
  upload: Sandbox['upload'];
  download: Sandbox['download'];
  /** The text of this Run: the instruction, or the revision's message with feedback. */
  input: string;
  feedback: string | null;
  iteration: number;
  workdir: string;
  emit(message: AgentMessage): void;
  signal: AbortSignal;
};

/** What an agent says of itself: recorded as a claim. */
export type AgentMessage =
  | { type: 'agent.message'; text: string }
  | { type: 'agent.tool_use'; id: string; name: string; input: unknown }
  | { type: 'agent.tool_result'; id: string; text: string; is_error: boolean };

export type AgentEnd = { kind: 'completed' } | { kind: 'failed'; reason: string };

/**
 * Contract: turns what a person wrote after `--agent` into a frozen AgentSpec, and a frozen AgentSpec into an Agent for one Task. It must not
 * touch a sandbox. The spec's digest covers everything that can change a trial.
 */
export interface AgentKind {
  /** Shown by `proctor agents kinds` and `--help`. */
  summary: string;
  /** `rest` = what follows `name:`; '' when there is nothing. Errors: invalid_configuration. */
  resolve(rest: string, context: ResolveContext): Promise<AgentSpec>;
  /** Null = this Task cannot be given to it, with the sentence why (e.g. oracle without a solution). */
  refuses?(spec: AgentSpec, task: Task): string | null;
  make(spec: AgentSpec, context: MakeContext): Promise<Agent>;
}

export type ResolveContext = {
  /** Relative paths are below it. */
  directory: string;
  environmentNames: readonly string[];
  /** Keeps a durable copy, so that a later trial runs these bytes whatever became of the originals; gives the digest that `filesFor` takes. */
  keepFiles(files: readonly KeptFile[], options?: KeepOptions): Promise<string>;
  filesFor(digest: string): string;
};

export type MakeContext = {
  task: Task | null;
  /** The host's environment; only names granted by the spec may be read. */
  hostEnvironment: Readonly<Record<string, string | undefined>>;
  /** Directory where the frozen files of a command, folder or module agent are kept, by digest. */
  filesFor(digest: string): string;
};
