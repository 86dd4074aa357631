import type { Client } from '../api/client.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { EnvironmentSpec, EnvironmentVersion } from '../domain/environment.ts';
import { AppError } from '../domain/errors.ts';
import type { Issue } from '../domain/issue.ts';
import type { ReportInput } from '../domain/report.ts';
import type { SessionSummary } from '../domain/summary.ts';
import type { CompiledTask } from '../domain/task.ts';
import { type Lane, type PlannedTask, planTrials, type Trial } from './plan-experiment.ts';
import {
  type Admitted,
  admitAll,
  experimentName,
  outcomeSettings,
  settingsRecord,
  settleEnvironment,
  settleLanes,
} from './prepare-experiment.ts';
import type { Progress } from './progress.ts';
import { labelOf } from './run-trial.ts';
import { runTrials } from './run-trials.ts';

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
  /** Keep each Session's filesystem at settlement, for `proctor shell <session>`. */
  keepState?: boolean;
  /** Tasks that admission refuses are listed like those that do not compile, instead of ending the experiment. */
  skipInvalid: boolean;
  /** This machine, for the default concurrency. */
  host: { cpus: number; freeMemoryMb: number };
  progress: (event: Progress) => void;
  /** First signal = stop cleanly: running trials are interrupted, finished ones kept. */
  signal: AbortSignal;
  now: () => Date;
  /** Resolves after so many milliseconds, or when `signal` fires. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  hash: (text: string | Uint8Array) => string;
};

export type ExperimentPlan = {
  experiment: string;
  trials: { task: string; lane: string; repetition: number; action: 'run' | 'reuse'; why: string }[];
};

export type ExperimentEnd = { kind: 'planned'; plan: ExperimentPlan } | { kind: 'ran'; report: ReportInput };

/** Tasks × lanes × repetitions, each trial one Session; what is finished is reused. Errors: no_tasks, invalid_task, invalid_configuration and refusals of admission. */
export async function evalExperiment(client: Client, options: ExperimentOptions): Promise<ExperimentEnd> {
  options.progress({ kind: 'compiled', tasks: options.compiled.length, refused: options.refused.length });
  const environment = await settleEnvironment(client, options);
  const lanes = await settleLanes(client, options);
  const admitted = await admitAll(client, options, lanes, environment);
  if (admitted.tasks.length === 0)
    throw new AppError('no_tasks', `no task is left to run in ${options.tasksArgument}: check the path and the filters`, {
      details: { refused: admitted.refused },
    });
  const name = await experimentName(client, options, environment);
  await refuseWhileRunning(client, name);
  const earlier = await client.call('sessions.summaries', { experiment: name });
  const trials = expand(options, admitted.tasks, lanes, environment, earlier);
  const planned = planTrials(trials, options);
  if (planned.run.length + planned.reuse.length === 0)
    throw new AppError('no_tasks', `the filters leave no trial of ${options.tasksArgument}: loosen --only, --limit or --include`);
  if (options.dryRun) return { kind: 'planned', plan: { experiment: name, trials: planned.plan } };
  const refused = [...options.refused, ...admitted.refused];
  await client.call('experiments.put', { name, settings: settingsRecord(options, environment, lanes, { scope: planned.scope, refused }) });
  const concurrency = settleConcurrency(options, admitted);
  const reusedFrom = planned.reuse.map(({ summary }) => summary.ended_at ?? summary.created_at).sort()[0] ?? null;
  options.progress({
    kind: 'planned',
    trials: planned.run.length,
    reused: planned.reuse.length,
    reusedFrom,
    concurrency,
    experiment: name,
    lanes: lanes.map((lane) => lane.label),
    notes: admitted.notes,
  });
  for (const { trial, summary } of planned.reuse)
    options.progress({ kind: 'trial_reused', trial: labelOf(trial, summary.attempt ?? 1), summary });
  const ran = await runTrials(client, planned.run, {
    ...options,
    experiment: name,
    environment: { id: environment.id, version: environment.version },
    concurrency,
  });
  const mined = [...planned.reuse.flatMap(({ trial, summary }) => [...superseded(trial, summary), summary]), ...ran.summaries];
  return {
    kind: 'ran',
    report: {
      title: name,
      experiment: name,
      generated_at: options.now().toISOString(),
      sessions: mined,
      refused,
      planned_trials: planned.run.length + planned.reuse.length,
      plan: planned.plan.map(({ task, lane, repetition }) => ({ task, lane, repetition })),
      repetitions: options.repeat,
      accept_retries: options.acceptRetries,
      interrupted: options.signal.aborted,
    },
  };
}

/** Two drivers of one experiment would run its trials twice. */
async function refuseWhileRunning(client: Client, name: string): Promise<void> {
  const running = (await client.call('sessions.list', { experiment: name })).find((one) => one.owner !== null && one.status !== 'closed');
  if (running === undefined) return;
  throw new AppError(
    'conflict',
    `experiment ${name} is being run by another process (Session ${running.id}): wait for it, or give this run its own name with --experiment`,
    { details: { experiment: name, session: running.id } },
  );
}

/** Attempts of the same trial before the one that counts. */
function superseded(trial: Trial, counted: SessionSummary): SessionSummary[] {
  return trial.earlier.filter((one) => one.session_id !== counted.session_id && one.created_at <= counted.created_at);
}

function settleConcurrency(options: ExperimentOptions, admitted: Admitted): number {
  const largestMb = Math.max(0, ...admitted.tasks.map((task) => task.memoryMb ?? 0)) || 2048;
  const fits = Math.max(1, Math.min(options.host.cpus, Math.floor(options.host.freeMemoryMb / largestMb)));
  const wanted = options.concurrency ?? fits;
  return admitted.concurrency === null ? wanted : Math.min(wanted, admitted.concurrency);
}

function expand(
  options: ExperimentOptions,
  tasks: PlannedTask[],
  lanes: Lane[],
  environment: EnvironmentVersion,
  earlier: SessionSummary[],
): Trial[] {
  const byTrial = Map.groupBy(earlier, (summary) => summary.trial ?? '');
  const repetitions = Array.from({ length: options.repeat }, (_, index) => index + 1);
  return tasks.flatMap((task) =>
    repetitions.flatMap((repetition) =>
      lanes.map((lane): Trial => {
        const identity = {
          task: task.digest,
          agent: lane.digest,
          environment: environment.digest,
          outcome: { ...outcomeSettings(options), max_iterations: task.maxIterations },
          repetition,
        };
        const id = options.hash(canonicalJson(identity));
        return { id, task, lane, repetition, earlier: byTrial.get(id) ?? [] };
      }),
    ),
  );
}
