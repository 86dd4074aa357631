import type { FieldAccount } from './issue.ts';

/** The canonical form of one unit of a benchmark, whatever format wrote it. Plain JSON: it is stored and frozen as it stands. */
export type Task = {
  /** `name` or `org/name`. */
  name: string;
  /** The key of the formats table that wrote it. */
  format: string;
  /** The prompt, verbatim (after the format's own canary rule). Also the Outcome's description. */
  instruction: string;
  /** Asks a rubric grader to judge the settled work against the instruction. Calls no model beside a verifier. */
  rubric: string;
  environment: EnvironmentIntent;
  agent: AgentIntent;
  /** Null: the task brings no check of its own and only a rubric grader could judge it. */
  verifier: VerifierContract | null;
  /** 1–20, or null when the task declares none. */
  max_iterations: number | null;
  limits: Limits;
  solution: Solution | null;
  /** Absolute sandbox paths captured as deliverables at settlement. */
  artifacts: Artifact[];
  /** Difficulty first. */
  tags: string[];
  description: string | null;
  provenance: Provenance;
  /** Everything of the source that has no place above, unchanged. */
  source_fields: Record<string, unknown>;
  /** SHA-256 over everything that can change a trial: configuration, instruction, verifier, solution and context files. */
  digest: string;
};

export type NetworkMode = 'none' | 'public' | 'allowlist';

export type EnvironmentIntent = {
  image: ImageIntent | null;
  /** Null: the image's own WORKDIR, else /app. */
  workdir: string | null;
  /** As written by the task, host templates (`${VAR}`) unresolved. */
  env: Record<string, string>;
  user: string | number | null;
  cpus: number | null;
  memory_mb: number | null;
  storage_mb: number | null;
  gpus: number | null;
  gpu_types: string[] | null;
  os: 'linux' | 'windows';
  tpu: { type: string; topology: string } | null;
  /** `explicit` false: the format's own default, which an Environment may close without refusing. */
  network: { mode: NetworkMode; hosts: string[]; explicit: boolean };
  healthcheck: Healthcheck | null;
  /** Files of environment/ uploaded into the workdir after start (a prebuilt image beside loose files). */
  upload: FileTree | null;
};

export type ImageIntent =
  | { kind: 'reference'; reference: string }
  /** `built` is always false here: compiling never builds. `dockerfile` is relative to `context`. */
  | { kind: 'build'; context: FileTree; dockerfile: string; built: false };

export type Healthcheck = {
  command: string;
  interval_ms: number;
  timeout_ms: number;
  start_period_ms: number;
  start_interval_ms: number;
  retries: number;
};

export type AgentIntent = {
  user: string | number | null;
  network: { mode: NetworkMode; hosts: string[] } | null;
};

export type VerifierContract = {
  /** 1–64 items of 1–4,096 bytes without NUL; never a shell string. Absolute paths are sandbox paths. */
  argv: string[];
  /** Uploaded to `target` right before the verifier runs; null = the image holds the tests and nothing is deleted. */
  files: FileTree | null;
  target: string;
  env: Record<string, string>;
  user: string | number | null;
  /** Null: the environment's workdir. */
  workdir: string | null;
  /** Key of the reward-formats table. */
  reward_format: string;
  /** Headline key where several are published; null = `reward` or the only one. */
  reward_key: string | null;
  reward_range: [number, number];
  pass_threshold: number;
  live_processes: 'keep' | 'kill';
  network: { mode: NetworkMode; hosts: string[] } | null;
  /** Run the verifier's stdout and stderr into one stream, as the format does. */
  merge_output: boolean;
};

export type Limits = {
  /** Milliseconds; null = none. */
  agent_timeout_ms: number | null;
  agent_setup_timeout_ms: number;
  verifier_timeout_ms: number;
  build_timeout_ms: number;
};

export type Solution = {
  argv: string[];
  files: FileTree;
  target: string;
  env: Record<string, string>;
};

export type Artifact = { source: string; destination: string | null; exclude: string[] };

/** A set of regular files below `root`, an absolute host path. Paths are relative, POSIX, sorted. */
export type FileTree = {
  root: string;
  digest: string;
  bytes: number;
  files: FileEntry[];
};

export type FileEntry = {
  path: string;
  bytes: number;
  /** Hex SHA-256 of the content. */
  sha256: string;
  /** Permission bits, e.g. 0o755. */
  mode: number;
  /** True: not UTF-8 or over 1 MiB. */
  asset: boolean;
};

export type Provenance = {
  format: string;
  /** Absolute host path of the task folder. */
  path: string;
  commit: string | null;
  schema_version: string | null;
};

/** What compiling gives: the Task and the account of every key of its source. */
export type CompiledTask = { task: Task; account: FieldAccount[] };
