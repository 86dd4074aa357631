import type { Client } from '../api/client.ts';
import type { ExperimentSettings } from '../api/operations.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { EnvironmentVersion } from '../domain/environment.ts';
import { AppError } from '../domain/errors.ts';
import type { Issue } from '../domain/issue.ts';
import { packPlan } from '../domain/report-plan.ts';
import type { PlannedTrial } from '../domain/report-trials.ts';
import type { Task } from '../domain/task.ts';
import type { ExperimentOptions } from './eval-experiment.ts';
import type { Lane, PlannedTask } from './plan-experiment.ts';

export type Admitted = {
  tasks: PlannedTask[];
  refused: { task: string; path: string; issues: Issue[] }[];
  concurrency: number | null;
  notes: string[];
};

export async function settleEnvironment(client: Client, options: ExperimentOptions): Promise<EnvironmentVersion> {
  const { environment } = options;
  if (environment.kind === 'stored') return client.call('environments.show', { id: environment.reference });
  return client.call('environments.create', { name: 'inline', spec: environment.spec });
}

/** Every `--agent` becomes a lane with an AgentVersion; a label that two lanes would share gets a number. */
export async function settleLanes(client: Client, options: ExperimentOptions): Promise<Lane[]> {
  if (options.lanes.length === 0) throw new AppError('usage', 'no agent: pass --agent oracle, --agent ./my-agent or another');
  const lanes: Lane[] = [];
  for (const { label, agent } of options.lanes) {
    const version = await client.call('agents.create', { from: agent, environment_names: options.agentEnvironmentNames });
    const wanted =
      label === ''
        ? version.name
            .replace(/[^a-z0-9-]+/gi, '-')
            .toLowerCase()
            .slice(0, 28) || 'agent'
        : label;
    const taken = lanes.filter((lane) => lane.label === wanted || lane.label.startsWith(`${wanted}-`)).length;
    if (label !== '' && taken > 0 && lanes.some((lane) => lane.label === label))
      throw new AppError('usage', `two lanes are labelled ${label}: give each its own, as in --agent a=… --agent b=…`);
    lanes.push({
      label: lanes.some((lane) => lane.label === wanted) ? `${wanted}-${taken + 1}` : wanted,
      agentId: version.id,
      agentVersion: version.version,
      digest: version.digest,
      kind: version.spec.kind,
    });
  }
  return lanes;
}

/** Every task against every lane before the first Session: one refusal ends the experiment with all of them, or is listed under --skip-invalid. */
export async function admitAll(
  client: Client,
  options: ExperimentOptions,
  lanes: Lane[],
  environment: EnvironmentVersion,
): Promise<Admitted> {
  const tasks: PlannedTask[] = [];
  const refused: Admitted['refused'] = [];
  const notes = new Set<string>();
  let concurrency: number | null = null;
  let first: AppError | null = null;
  for (const { task: compiled } of options.compiled) {
    const task = withMultiplier(compiled, options.timeoutMultiplier);
    const problems: Issue[] = [];
    let memoryMb: number | null = null;
    try {
      if (task.verifier === null)
        throw new AppError(
          'grader_unavailable',
          `task ${task.name} has no verifier, and the rubric grader that could judge it is absent from this build`,
          { details: { grader: 'rubric' } },
        );
      for (const lane of lanes) {
        const admission = await client.call('sessions.admit', {
          agent: { id: lane.agentId, version: lane.agentVersion },
          environment_id: { id: environment.id, version: environment.version },
          task,
        });
        concurrency = admission.concurrency ?? concurrency;
        memoryMb = admission.memory_mb;
        for (const note of admission.notes) notes.add(note);
        for (const field of admission.not_enforced) notes.add(`${field} is not enforced by the ${admission.provider} sandbox`);
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'sandbox_unavailable') throw error;
      first ??= error;
      problems.push({ severity: 'error', path: '', message: error.message });
    }
    if (problems.length > 0) refused.push({ task: task.name, path: task.provenance.path, issues: problems });
    else tasks.push(await planned(client, task, options, memoryMb));
  }
  if (first !== null && !options.skipInvalid) {
    const rest = refused.length > 1 ? ` (and ${refused.length - 1} more refused tasks)` : '';
    throw new AppError(
      first.code,
      `${refused
        .flatMap((one) => one.issues.map((issue) => issue.message))
        .slice(0, 20)
        .join('\n')}${refused.length > 20 ? rest : ''}`,
      { cause: first, details: { ...first.details, refused } },
    );
  }
  return { tasks, refused, concurrency, notes: [...notes] };
}

/** What of the flags is part of a trial's identity. */
export function outcomeSettings(options: ExperimentOptions): Record<string, string | number | null> {
  return {
    timeout_multiplier: options.timeoutMultiplier,
    live_processes: options.liveProcesses,
    reward_key: options.rewardKey,
    feedback: options.feedback,
  };
}

/** `--experiment`, else the digest of tasks, Environment and settings; `--fresh` takes the next free number, and without it the latest goes on. */
export async function experimentName(client: Client, options: ExperimentOptions, environment: EnvironmentVersion): Promise<string> {
  const identity = {
    tasks: options.tasksArgument,
    environment: environment.digest,
    settings: outcomeSettings(options),
    max_iterations: options.maxIterations,
  };
  const base = options.experiment ?? `exp-${options.hash(canonicalJson(identity)).slice(0, 10)}`;
  const taken = (await client.call('experiments.list', {})).map((one) => one.name);
  const generations = taken
    .map((name) => (name === base ? 1 : name.startsWith(`${base}.`) ? Number(name.slice(base.length + 1)) : Number.NaN))
    .filter((number) => Number.isInteger(number) && number > 0);
  const latest = Math.max(0, ...generations);
  const wanted = options.fresh ? latest + 1 : Math.max(1, latest);
  return wanted === 1 ? base : `${base}.${wanted}`;
}

/** What a later report needs of the command: its lanes, its limits, and the trials that it is about, whether or not they ever ran. */
export function settingsRecord(
  options: ExperimentOptions,
  environment: EnvironmentVersion,
  lanes: Lane[],
  { scope, refused }: { scope: readonly PlannedTrial[]; refused: ExperimentOptions['refused'] },
): ExperimentSettings {
  return {
    tasks: options.tasksArgument,
    environment: { id: environment.id, version: environment.version },
    lanes: lanes.map(({ label, agentId, agentVersion }) => ({ label, agent: agentId, version: agentVersion })),
    repeat: options.repeat,
    max_iterations: options.maxIterations,
    ...outcomeSettings(options),
    accept_retries: options.acceptRetries,
    refused: refused.map(({ task, path, issues }) => ({ task, path, issues: issues.map((issue) => ({ ...issue })) })),
    plan: packPlan(scope),
  };
}

async function planned(client: Client, task: Task, options: ExperimentOptions, memoryMb: number | null): Promise<PlannedTask> {
  const { blob } = await client.call('tasks.put', { task });
  const workdir = task.environment.workdir ?? '/app';
  return {
    name: task.name,
    digest: task.digest,
    blob,
    instruction: task.instruction,
    maxIterations: task.max_iterations ?? options.maxIterations ?? 1,
    verifierSettings: {
      rubric: task.rubric,
      grader: task.verifier,
      ...(options.liveProcesses === null ? {} : { live_processes: options.liveProcesses }),
      ...(options.rewardKey === null ? {} : { reward_key: options.rewardKey }),
    },
    deliverables: task.artifacts.map(({ source }) => (source.startsWith('/') ? source : `${workdir}/${source}`)),
    memoryMb,
  };
}

function withMultiplier(task: Task, multiplier: number): Task {
  if (multiplier === 1) return task;
  const { limits } = task;
  return {
    ...task,
    limits: {
      agent_timeout_ms: limits.agent_timeout_ms === null ? null : limits.agent_timeout_ms * multiplier,
      agent_setup_timeout_ms: limits.agent_setup_timeout_ms * multiplier,
      verifier_timeout_ms: limits.verifier_timeout_ms * multiplier,
      build_timeout_ms: limits.build_timeout_ms * multiplier,
    },
  };
}
