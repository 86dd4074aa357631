import type { PlannedTrial } from '../domain/report-trials.ts';
import { seededRandom } from '../domain/statistics-random.ts';
import type { SessionSummary } from '../domain/summary.ts';
import type { ExperimentOptions, ExperimentPlan } from './eval-experiment.ts';
import { matchesGlob } from './glob.ts';

export type Lane = { label: string; agentId: string; agentVersion: number; digest: string; kind: string };
export type PlannedTask = {
  name: string;
  digest: string;
  blob: string;
  instruction: string;
  maxIterations: number;
  verifierSettings: Record<string, unknown>;
  deliverables: string[];
  memoryMb: number | null;
};
export type Trial = { id: string; task: PlannedTask; lane: Lane; repetition: number; earlier: SessionSummary[] };
export type Planned = {
  run: Trial[];
  reuse: { trial: Trial; summary: SessionSummary }[];
  plan: ExperimentPlan['trials'];
  /** What the experiment is made of, also where this call leaves a trial as it is: a later report counts what is missing of it. */
  scope: PlannedTrial[];
};

/** A trial that ended by itself and was judged, or failed for a reason of its own, is not run again; what the world around it broke is. */
export function isFinished(summary: SessionSummary): boolean {
  return (
    summary.settled &&
    summary.outcome_result !== null &&
    summary.attribution !== 'infrastructure' &&
    summary.attribution !== 'cancelled' &&
    summary.attribution !== 'budget'
  );
}

/** Tasks × lanes × repetitions, each either run or reused, with the reason. */
export function planTrials(trials: Trial[], options: Pick<ExperimentOptions, 'only' | 'shuffleSeed' | 'limit'>): Planned {
  const run: Trial[] = [];
  const reuse: Planned['reuse'] = [];
  const plan: ExperimentPlan['trials'] = [];
  const scope: PlannedTrial[] = [];
  for (const trial of ordered(trials, options)) {
    const label = { task: trial.task.name, lane: trial.lane.label, repetition: trial.repetition };
    const finished = trial.earlier.filter(isFinished).at(-1) ?? null;
    const decision = decide(trial, finished, options.only);
    if (decision.action !== 'leave' || decision.isOfScope) scope.push(label);
    if (decision.action === 'leave') continue;
    plan.push({ ...label, action: decision.action, why: decision.why });
    if (decision.action === 'run') run.push(trial);
    else if (finished !== null) reuse.push({ trial, summary: finished });
  }
  return { run, reuse, plan, scope };
}

type Decision = { action: 'run' | 'reuse'; why: string } | { action: 'leave'; isOfScope: boolean };

function decide(trial: Trial, finished: SessionSummary | null, only: string | null): Decision {
  if (only === 'failed') {
    if (finished === null) return { action: 'leave', isOfScope: true };
    return finished.trial_result === 'failed' || finished.trial_result === 'partial'
      ? { action: 'run', why: 'it failed and --only failed asks for those' }
      : { action: 'reuse', why: `finished ${finished.ended_at ?? ''}` };
  }
  if (only === 'unscored') {
    if (finished === null) return { action: 'run', why: trial.earlier.length > 0 ? 'its last attempt did not finish' : 'missing' };
    return finished.trial_result === 'unscored'
      ? { action: 'run', why: 'it could not be scored' }
      : { action: 'reuse', why: `finished ${finished.ended_at ?? ''}` };
  }
  if (only !== null && !matchesGlob(trial.task.name, only)) return { action: 'leave', isOfScope: false };
  if (finished !== null) return { action: 'reuse', why: `finished ${finished.ended_at ?? ''}` };
  return { action: 'run', why: trial.earlier.length > 0 ? 'its last attempt did not finish' : 'missing' };
}

/** A limit counts tasks, so that every lane meets the same ones. */
function ordered(trials: Trial[], options: Pick<ExperimentOptions, 'shuffleSeed' | 'limit'>): Trial[] {
  const names = [...new Set(trials.map((trial) => trial.task.name))];
  const order = options.shuffleSeed === null ? names : shuffled(names, options.shuffleSeed);
  const kept = options.limit === null ? order : order.slice(0, options.limit);
  const place = new Map(kept.map((name, index) => [name, index]));
  return trials
    .filter((trial) => place.has(trial.task.name))
    .sort((left, right) => (place.get(left.task.name) ?? 0) - (place.get(right.task.name) ?? 0) || left.repetition - right.repetition);
}

/** Fisher-Yates: the same seed, the same order, everywhere. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = seededRandom(seed);
  const result = [...items];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [result[at], result[other]] = [result[other] as T, result[at] as T];
  }
  return result;
}
