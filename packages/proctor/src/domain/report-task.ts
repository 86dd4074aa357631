import type { TaskReport } from './report-schema.ts';
import { type Trials, taskOf } from './report-trials.ts';
import type { SessionSummary } from './session-summary.ts';

/** So many scored trials without a pass say more about the task than about the agents. */
const ENOUGH_TO_SUSPECT = 3;

/** Every task with its lanes × repetitions, sorted by name. */
export function taskReports(trials: Trials): TaskReport[] {
  const byTask = Map.groupBy(trials.sessions, taskOf);
  const names = [...new Set([...byTask.keys(), ...trials.missing.map((trial) => trial.task)])].sort((left, right) =>
    left < right ? -1 : 1,
  );
  return names.map((task) => taskReport(task, byTask.get(task) ?? [], trials));
}

function taskReport(task: string, sessions: readonly SessionSummary[], trials: Trials): TaskReport {
  const lanes = trials.lanes.flatMap((lane): TaskReport['lanes'] => {
    const own = (trials.byLane.get(lane) ?? []).filter((session) => taskOf(session) === task);
    const missing = trials.missing.filter((trial) => trial.lane === lane && trial.task === task);
    if (own.length + missing.length === 0) return [];
    const scored = own.filter((session) => session.trial_result !== 'unscored').length;
    const passed = own.filter((session) => session.trial_result === 'passed').length;
    const cells = [...own.map(cellOf), ...missing.map((trial) => ({ ...NOT_STARTED, repetition: trial.repetition }))];
    cells.sort((left, right) => (left.repetition ?? 0) - (right.repetition ?? 0));
    return [{ lane, scored, passed, flaky: passed > 0 && passed < scored, trials: cells }];
  });
  return {
    task,
    tags: sessions.at(-1)?.tags ?? [],
    digests: [...new Set(sessions.map((session) => session.task_digest).filter((digest) => digest !== null))],
    lanes,
    flaky: lanes.some((lane) => lane.flaky),
    suspect: suspicions(sessions),
  };
}

function cellOf(session: SessionSummary): TaskReport['lanes'][number]['trials'][number] {
  const { repetition, session_id, reward, attribution, failure_mode, firmness } = session;
  return {
    repetition,
    result: session.settled ? session.trial_result : 'unsettled',
    session_id,
    reward,
    attribution,
    failure_mode,
    firmness,
  };
}

const NOT_STARTED = {
  result: 'not_started',
  session_id: null,
  reward: null,
  attribution: null,
  failure_mode: null,
  firmness: null,
} as const;

function suspicions(sessions: readonly SessionSummary[]): string[] {
  const reasons: string[] = [];
  if (sessions.some((session) => session.failure_mode === 'build_failed')) reasons.push('its image does not build');
  const oracle = sessions.filter((session) => session.agent_kind === 'oracle' && session.settled);
  if (oracle.some((session) => session.trial_result === 'failed' || session.trial_result === 'partial'))
    reasons.push('its own solution does not pass');
  /** An agent that does nothing is meant to fail. */
  const tried = sessions.filter((session) => session.trial_result !== 'unscored' && session.agent_kind !== 'nop');
  if (tried.length >= ENOUGH_TO_SUSPECT && tried.every((session) => session.trial_result !== 'passed')) {
    reasons.push(`no pass in ${tried.length} scored trials`);
  }
  return reasons;
}
