import type { LaneReport, Measurement, Measurements, Rate } from './report-schema.ts';
import { type Trials, taskOf } from './report-trials.ts';
import type { SessionSummary } from './session-summary.ts';
import { mean, overTasks, passAtK, passHatK, sum, type TaskCount } from './statistics.ts';
import { type IntervalOptions, rateInterval } from './statistics-intervals.ts';

/** More infrastructure failures than this and a lane's rate says little about the agent. */
const MUCH_INFRASTRUCTURE = 0.05;

/** Values of k worth a line; beyond, the largest possible k is added. */
const SHOWN_K = [1, 2, 3, 4, 5, 8, 10, 16, 20, 25, 32, 50, 64, 100];

export function laneReport(lane: string, trials: Trials, options: IntervalOptions): LaneReport {
  const sessions = trials.byLane.get(lane) ?? [];
  const missing = trials.missing.filter((trial) => trial.lane === lane);
  const refused = trials.refused.length * trials.repetitions;
  const scored = sessions.filter(isScored);
  const agents = new Map(sessions.flatMap((session) => (session.agent === null ? [] : [[session.agent.digest, session.agent]])));
  const infrastructure = sessions.filter((session) => session.attribution === 'infrastructure').length;
  const share = sessions.length === 0 ? null : infrastructure / sessions.length;
  const result = (wanted: SessionSummary['trial_result']) => sessions.filter((session) => session.trial_result === wanted).length;
  return {
    lane,
    agent: [...agents.values()].at(-1) ?? null,
    agent_kind: sessions.at(-1)?.agent_kind ?? null,
    agent_versions: agents.size,
    max_iterations: bounds(sessions),
    trials: {
      all: sessions.length + missing.length + refused,
      scored: scored.length,
      passed: result('passed'),
      failed: result('failed'),
      partial: result('partial'),
      unscored: result('unscored'),
      unsettled: sessions.filter((session) => !session.settled).length,
      not_started: missing.length,
      refused,
    },
    scored: rate(countByTask(scored), options),
    all: rate(everyTrial(sessions, missing, trials), { ...options, draws: 0 }),
    pass_at_k: passAt(countByTask(scored)),
    infrastructure: { failures: infrastructure, of: sessions.length, share, flagged: (share ?? 0) > MUCH_INFRASTRUCTURE },
    isolation_none: sessions.some((session) => session.isolation === 'none'),
    measurements: measurementsOf(sessions),
  };
}

export function isScored(session: SessionSummary): boolean {
  return session.trial_result !== 'unscored';
}

/** The different bounds in force. */
export function bounds(sessions: readonly SessionSummary[]): number[] {
  return [...new Set(sessions.map((session) => session.max_iterations).filter((bound) => bound !== null))].sort(
    (left, right) => left - right,
  );
}

/** Trials and passes of each task. */
export function countByTask(sessions: readonly SessionSummary[]): Map<string, TaskCount> {
  const counts = new Map<string, TaskCount>();
  for (const session of sessions) {
    const before = counts.get(taskOf(session)) ?? { n: 0, c: 0 };
    counts.set(taskOf(session), { n: before.n + 1, c: before.c + (session.trial_result === 'passed' ? 1 : 0) });
  }
  return counts;
}

export function measurementsOf(sessions: readonly SessionSummary[]): Measurements {
  const measure = (value: (session: SessionSummary) => number | null): Measurement => {
    const known = sessions.map(value).filter((item) => item !== null);
    return { n: known.length, of: sessions.length, total: known.length === 0 ? null : sum(known), mean: mean(known) };
  };
  return {
    iterations: measure((session) => session.iterations),
    input_tokens: measure((session) => session.tokens?.input ?? null),
    output_tokens: measure((session) => session.tokens?.output ?? null),
    tool_calls: measure((session) => session.tool_calls),
    active_ms: measure((session) => session.active_ms),
    cost_nano_usd: measure((session) => session.cost_nano_usd),
    build_ms: measure((session) => session.clocks.build_ms),
    provision_ms: measure((session) => session.clocks.provision_ms),
    agent_setup_ms: measure((session) => session.clocks.agent_setup_ms),
    agent_ms: measure((session) => session.clocks.agent_ms),
    verifier_ms: measure((session) => session.clocks.verifier_ms),
    usage_incomplete: sessions.filter((session) => session.usage_incomplete).length,
  };
}

/** Unscored, never-started and refused trials count as failures here. */
function everyTrial(sessions: readonly SessionSummary[], missing: Trials['missing'], trials: Trials): Map<string, TaskCount> {
  const counts = countByTask(sessions);
  const fail = (task: string, times: number) => {
    const before = counts.get(task) ?? { n: 0, c: 0 };
    counts.set(task, { n: before.n + times, c: before.c });
  };
  for (const trial of missing) fail(trial.task, 1);
  for (const { task, path } of trials.refused) fail(counts.has(task) ? path : task, trials.repetitions);
  return counts;
}

function rate(counts: ReadonlyMap<string, TaskCount>, options: IntervalOptions): Rate {
  const tasks = [...counts.values()];
  const trials = sum(tasks.map((task) => task.n));
  const passed = sum(tasks.map((task) => task.c));
  return {
    passed,
    trials,
    rate: trials === 0 ? null : passed / trials,
    tasks: tasks.length,
    task_rate: mean(tasks.map((task) => task.c / task.n)),
    interval: rateInterval(tasks, options),
  };
}

function passAt(counts: ReadonlyMap<string, TaskCount>): LaneReport['pass_at_k'] {
  const tasks = [...counts.values()];
  if (tasks.length === 0) return [];
  const fewest = Math.min(...tasks.map((task) => task.n));
  const ks = [...new Set([...SHOWN_K.filter((k) => k <= fewest), fewest])].sort((left, right) => left - right);
  return ks.flatMap((k) => {
    const at = overTasks(tasks, (task) => passAtK(task, k));
    const hat = overTasks(tasks, (task) => passHatK(task, k));
    return at === null || hat === null ? [] : [{ k, pass_at_k: at, pass_hat_k: hat, tasks: tasks.length }];
  });
}
