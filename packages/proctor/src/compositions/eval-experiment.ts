import type { Client } from '../api/client.ts';
import type { EnvironmentSpec } from '../domain/environment.ts';
import type { Issue } from '../domain/issue.ts';
import type { ReportInput } from '../domain/report.ts';
import type { CompiledTask } from '../domain/task.ts';
import type { Progress } from './progress.ts';

export type ExperimentOptions = {
  /** The tasks as given, paths made absolute: for the label and the settings record. */
  tasksArgument: string;
  compiled: CompiledTask[];
  refused: { task: string; path: string; issues: Issue[] }[];
  lanes: { label: string; agent: string }[];
  agentEnvironmentNames: string[];
  /** An id or name of a stored Environment, or a spec from flags. */
  environment: { kind: 'stored'; reference: string } | { kind: 'inline'; spec: EnvironmentSpec };
  repeat: number;
  maxIterations: number | null;
  concurrency: number | null;
  maxAttempts: number;
  timeoutMultiplier: number;
  liveProcesses: 'keep' | 'kill' | 'contest' | null;
  rewardKey: string | null;
  feedback: 'none' | 'summary' | 'full';
  experiment: string | null;
  fresh: boolean;
  only: string | null;
  limit: number | null;
  shuffleSeed: number | null;
  failFast: number | null;
  dryRun: boolean;
  acceptRetries: boolean;
  /** Tasks that admission refuses are listed like those that do not compile, instead of ending the experiment. */
  skipInvalid: boolean;
  /** This machine, for the default concurrency. */
  host: { cpus: number; freeMemoryMb: number };
  progress: (event: Progress) => void;
  /** First signal = stop cleanly: running trials are interrupted, finished ones kept. */
  signal: AbortSignal;
  now: () => Date;
  hash: (text: string | Uint8Array) => string;
};

export type ExperimentPlan = {
  experiment: string;
  trials: { task: string; lane: string; repetition: number; action: 'run' | 'reuse'; why: string }[];
};

export type ExperimentEnd = { kind: 'planned'; plan: ExperimentPlan } | { kind: 'ran'; report: ReportInput };

export type EvalExperiment = (client: Client, options: ExperimentOptions) => Promise<ExperimentEnd>;
