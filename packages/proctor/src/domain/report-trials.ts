import type { Issue } from './issue.ts';
import type { SessionSummary } from './session-summary.ts';

export type PlannedTrial = { task: string; lane: string; repetition: number };

export type Trials = {
  /** Labels in order of first appearance: the plan's, then the Sessions'. */
  lanes: string[];
  /** One Session per trial: its last attempt. */
  sessions: SessionSummary[];
  byLane: ReadonlyMap<string, SessionSummary[]>;
  missing: PlannedTrial[];
  notStarted: number;
  superseded: SessionSummary[];
  outdated: number;
  refused: { task: string; path: string; issues: Issue[] }[];
  repetitions: number;
};

type Given = {
  sessions: readonly SessionSummary[];
  refused: Trials['refused'];
  planned_trials: number | null;
  plan?: readonly PlannedTrial[];
  repetitions?: number;
};

/** Which Session stands for each trial. A later attempt supersedes an earlier one; a trial run anew makes what came before outdated. */
export function currentTrials(input: Given): Trials {
  const groups = new Map<string, SessionSummary[]>();
  for (const session of [...input.sessions].sort(byCreation)) {
    const key = trialKey(session);
    groups.set(key, [...(groups.get(key) ?? []), session]);
  }
  const sessions: SessionSummary[] = [];
  const superseded: SessionSummary[] = [];
  let outdated = 0;
  for (const group of groups.values()) {
    const series = latestSeries(group);
    outdated += group.length - series.length;
    superseded.push(...series.slice(0, -1));
    sessions.push(...series.slice(-1));
  }
  sessions.sort(byCreation);
  const plan = input.plan ?? [];
  const missing = plan.filter((trial) => !groups.has(keyOf(trial.lane, trial.task, trial.repetition)));
  const lanes = [...new Set([...plan.map((trial) => trial.lane), ...sessions.map(laneOf)])];
  const seen = new Set(sessions.map((session) => session.repetition)).size;
  return {
    lanes,
    sessions,
    byLane: Map.groupBy(sessions, laneOf),
    missing,
    notStarted: input.plan !== undefined ? missing.length : Math.max(0, (input.planned_trials ?? 0) - sessions.length),
    superseded,
    outdated,
    refused: input.refused,
    repetitions: input.repetitions ?? Math.max(1, seen),
  };
}

/** A Session outside an experiment is a lane named after its agent. */
export function laneOf(session: SessionSummary): string {
  return session.lane ?? session.agent?.name ?? 'no agent';
}

export function taskOf(session: SessionSummary): string {
  return session.task ?? session.session_id;
}

/** The Sessions at the end of a group that are attempts of one and the same trial: same identity, rising attempt numbers. */
function latestSeries(group: readonly SessionSummary[]): SessionSummary[] {
  let start = group.length - 1;
  for (; start > 0; start -= 1) {
    const [before, after] = [group[start - 1], group[start]];
    if (before?.trial !== after?.trial || (before?.attempt ?? 0) >= (after?.attempt ?? 0)) break;
  }
  return group.slice(Math.max(0, start));
}

function trialKey(session: SessionSummary): string {
  if (session.trial === null || session.repetition === null) return session.session_id;
  return keyOf(laneOf(session), taskOf(session), session.repetition);
}

function keyOf(lane: string, task: string, repetition: number): string {
  return JSON.stringify([lane, task, repetition]);
}

function byCreation(left: SessionSummary, right: SessionSummary): number {
  if (left.created_at !== right.created_at) return left.created_at < right.created_at ? -1 : 1;
  return (left.attempt ?? 0) - (right.attempt ?? 0);
}
