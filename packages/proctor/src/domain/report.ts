import { compareLanes } from './comparison.ts';
import { explainFailure } from './failure-modes.ts';
import type { Issue } from './issue.ts';
import { exitOf } from './report-exit.ts';
import { bounds, laneReport, measurementsOf } from './report-lane.ts';
import type { Report } from './report-schema.ts';
import { taskReports } from './report-task.ts';
import { currentTrials, type PlannedTrial, type Trials } from './report-trials.ts';
import type { SessionSummary } from './session-summary.ts';
import type { Random } from './statistics-random.ts';

export type { Report } from './report-schema.ts';

/** What a report is made from. Everything else is derived. */
export type ReportInput = {
  title: string;
  experiment: string | null;
  generated_at: string;
  sessions: SessionSummary[];
  /** Tasks that did not compile under --skip-invalid. */
  refused: { task: string; path: string; issues: Issue[] }[];
  /** How many trials were planned, refused tasks left out; null = unknown. */
  planned_trials: number | null;
  /** The planned trials themselves: those without a Session then count in the *all* rate of their lane and task. */
  plan?: PlannedTrial[];
  /** Repetitions asked for: a refused task counts so often. Unset = as many as were seen. */
  repetitions?: number;
  accept_retries: boolean;
  interrupted: boolean;
};

export type ReportOptions = { random: Random; level?: number; draws?: number };

/** The whole report. The same input and random numbers give the same report. */
export function makeReport(input: ReportInput, { random, level = 0.95, draws = 10_000 }: ReportOptions): Report {
  const trials = currentTrials(input);
  const { sessions } = trials;
  const interval = { random, level, draws };
  const lanes = trials.lanes.map((lane) => laneReport(lane, trials, interval));
  const [baseline, ...others] = trials.lanes;
  const of = (lane: string) => trials.byLane.get(lane) ?? [];
  return {
    schema: 'proctor.report/1',
    title: input.title,
    experiment: input.experiment,
    generated_at: input.generated_at,
    exit: exitOf(input, trials),
    trials: totals(lanes, trials),
    verdicts: {
      satisfied: sessions.filter((session) => session.verdict === 'satisfied').length,
      needs_revision: sessions.filter((session) => session.verdict === 'needs_revision').length,
      grading_failure: sessions.filter((session) => session.verdict === 'grading_failure').length,
      none: sessions.filter((session) => session.verdict === null).length,
    },
    results: {
      satisfied: sessions.filter((session) => session.outcome_result === 'satisfied').length,
      max_iterations_reached: sessions.filter((session) => session.outcome_result === 'max_iterations_reached').length,
      failed: sessions.filter((session) => session.outcome_result === 'failed').length,
      interrupted: sessions.filter((session) => session.outcome_result === 'interrupted').length,
      none: sessions.filter((session) => session.outcome_result === null).length,
    },
    max_iterations: bounds(sessions),
    measurements: measurementsOf(sessions),
    failure_modes: tally(sessions, (session) => session.failure_mode).map(([mode, count]) => ({
      mode,
      count,
      sentence: explainFailure(mode),
    })),
    attributions: tally(sessions, (session) => session.attribution).map(([attribution, count]) => ({ attribution, count })),
    tools: toolUse(sessions),
    firmness: (['live', 'unconfirmed'] as const).flatMap((firmness) => {
      const found = sessions.filter((session) => session.firmness === firmness);
      return found.length === 0 ? [] : [{ firmness, count: found.length, sessions: found.map((session) => session.session_id) }];
    }),
    not_enforced: tally(
      sessions.flatMap((session) => session.not_enforced),
      (limit) => limit,
    ).map(([limit, count]) => ({ limit, sessions: count })),
    warnings: warnings(sessions),
    isolation_none: sessions.filter((session) => session.isolation === 'none').length,
    lanes,
    tasks: taskReports(trials),
    comparisons:
      baseline === undefined
        ? []
        : others.map((lane) =>
            compareLanes(
              { label: baseline, trials: of(baseline) },
              { label: lane, trials: of(lane) },
              { ...interval, allowMismatch: false },
            ),
          ),
    refused: input.refused,
    superseded: trials.superseded,
    outdated: trials.outdated,
    sessions,
  };
}

function totals(lanes: Report['lanes'], trials: Trials): Report['trials'] {
  const add = (key: keyof Report['trials']) => lanes.reduce((sum, lane) => sum + lane.trials[key], 0);
  /** A plan that is known by its number alone belongs to no lane, and a refused task without any lane still counts. */
  const unplaced = Math.max(0, trials.notStarted - add('not_started'));
  const refused = lanes.length === 0 ? trials.refused.length * trials.repetitions : add('refused');
  return {
    all: add('all') + unplaced + (refused - add('refused')),
    scored: add('scored'),
    passed: add('passed'),
    failed: add('failed'),
    partial: add('partial'),
    unscored: add('unscored'),
    unsettled: add('unsettled'),
    not_started: add('not_started') + unplaced,
    refused,
  };
}

/** Most frequent first, then by name, so that the order never depends on which Session came first. */
function tally<T, K extends string>(items: readonly T[], keyOf: (item: T) => K | null): [K, number][] {
  const counts = new Map<K, number>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort(([leftKey, left], [rightKey, right]) => right - left || (leftKey < rightKey ? -1 : 1));
}

function toolUse(sessions: readonly SessionSummary[]): Report['tools'] {
  const tools = new Map<string, { calls: number; sessions: number }>();
  for (const session of sessions) {
    for (const [tool, calls] of Object.entries(session.tools)) {
      const before = tools.get(tool) ?? { calls: 0, sessions: 0 };
      tools.set(tool, { calls: before.calls + calls, sessions: before.sessions + 1 });
    }
  }
  const rows = [...tools].map(([tool, counts]) => ({ tool, ...counts }));
  return rows.sort((left, right) => right.calls - left.calls || (left.tool < right.tool ? -1 : 1));
}

function warnings(sessions: readonly SessionSummary[]): Report['warnings'] {
  const found = new Map<string, { count: number; sessions: Set<string>; first: string }>();
  for (const session of sessions) {
    for (const { code, message } of session.warnings) {
      const entry = found.get(code) ?? { count: 0, sessions: new Set<string>(), first: message };
      entry.count += 1;
      entry.sessions.add(session.session_id);
      found.set(code, entry);
    }
  }
  const rows = [...found].map(([code, entry]) => ({ code, count: entry.count, sessions: [...entry.sessions], first: entry.first }));
  return rows.sort((left, right) => (left.code < right.code ? -1 : 1));
}
