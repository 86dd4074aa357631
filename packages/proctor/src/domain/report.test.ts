import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failed, sampleInput, summary, unscored } from '../../../../fixtures/results/sample.ts';
import { compareLanes } from './comparison.ts';
import { makeReport, type ReportInput } from './report.ts';
import { ReportSchema } from './report-schema.ts';
import type { SessionSummary } from './session-summary.ts';
import { seededRandom } from './statistics-random.ts';

const input = (sessions: SessionSummary[], rest: Partial<ReportInput> = {}): ReportInput => ({
  title: 't',
  experiment: 'e',
  generated_at: '2026-03-01T12:00:00.000Z',
  sessions,
  refused: [],
  planned_trials: null,
  accept_retries: false,
  interrupted: false,
  ...rest,
});
const report = (sessions: SessionSummary[], rest?: Partial<ReportInput>) => {
  const made = makeReport(input(sessions, rest), { random: seededRandom(1), draws: 200 });
  return ReportSchema.parse(made);
};
let next = 0;
const trial = (task: string, values: Partial<SessionSummary> = {}): SessionSummary => {
  next += 1;
  return summary({
    task,
    task_digest: `digest-${task}`,
    session_id: `sesn_${next}`,
    trial: `trial-${next}`,
    created_at: new Date(1.77e12 + next * 1000).toISOString(),
    ...values,
  });
};
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));
const unsettled: Partial<SessionSummary> = {
  settled: false,
  verdict: null,
  verdict_seq: null,
  outcome_result: null,
  trial_result: 'unscored',
  failure_mode: 'unsettled',
};
const infrastructure: Partial<SessionSummary> = {
  ...unscored,
  verdict: null,
  verdict_seq: null,
  failure_mode: 'pull_failed',
  attribution: 'infrastructure',
};
const refusal = { task: 'broken', path: 'tasks/broken', issues: [] };

describe('rates', () => {
  test('12 of 15 passed is 80 % with the Wilson interval of single trials', () => {
    const [lane] = report([...times(12, (i) => trial(`t${i}`)), ...times(3, (i) => trial(`f${i}`, failed))]).lanes;
    expect(lane?.scored).toMatchObject({ passed: 12, trials: 15, rate: 0.8, tasks: 15, interval: { method: 'wilson', mark: null } });
    expect(lane?.scored.interval?.low).toBeCloseTo(0.548, 3);
    expect(lane?.scored.interval?.high).toBeCloseTo(0.93, 3);
  });

  test('unscored, refused and never-started trials leave the scored rate and fail in the rate of all', () => {
    const plan = ['a', 'b', 'c', 'd'].map((task) => ({ task, lane: 'fast', repetition: 1 }));
    const [lane] = report([trial('a'), trial('b', failed), trial('c', unscored)], { refused: [refusal], plan, planned_trials: 4 }).lanes;
    expect(lane?.trials).toEqual({
      all: 5,
      scored: 2,
      passed: 1,
      failed: 1,
      partial: 0,
      unscored: 1,
      unsettled: 0,
      not_started: 1,
      refused: 1,
    });
    expect(lane?.scored).toMatchObject({ passed: 1, trials: 2, rate: 0.5 });
    expect(lane?.all).toMatchObject({ passed: 1, trials: 5, rate: 0.2, tasks: 5 });
  });

  test('partial is shown and never passed', () => {
    const made = report([trial('a', { ...failed, trial_result: 'partial', reward: 0.9 })]);
    expect(made.trials).toMatchObject({ passed: 0, partial: 1, scored: 1 });
    expect(made.lanes[0]?.scored.rate).toBe(0);
  });

  test('no scored trial has no rate and no interval', () => {
    const [lane] = report([trial('a', unscored)]).lanes;
    expect(lane?.scored).toMatchObject({ passed: 0, trials: 0, rate: null, task_rate: null, interval: null });
    expect(lane?.pass_at_k).toEqual([]);
  });

  test('k beyond the fewest trials of a task is absent', () => {
    const [lane] = report([
      ...times(3, (i) => trial('a', { repetition: i + 1 })),
      ...times(2, (i) => trial('b', { repetition: i + 1, ...(i === 0 ? failed : {}) })),
    ]).lanes;
    expect(lane?.pass_at_k).toEqual([
      { k: 1, pass_at_k: 0.75, pass_hat_k: 0.75, tasks: 2 },
      { k: 2, pass_at_k: 1, pass_hat_k: 0.5, tasks: 2 },
    ]);
  });

  test('more than 5 % infrastructure failures flag the lane', () => {
    expect(report([...times(19, (i) => trial(`t${i}`)), trial('x', infrastructure)]).lanes[0]?.infrastructure).toEqual({
      failures: 1,
      of: 20,
      share: 0.05,
      flagged: false,
    });
    expect(report([...times(18, (i) => trial(`t${i}`)), trial('x', infrastructure)]).lanes[0]?.infrastructure.flagged).toBe(true);
  });
});

describe('measurements', () => {
  test('a mean is over the Sessions that recorded the quantity, and none is null', () => {
    const { measurements } = report([trial('a', { tool_calls: 4 }), trial('b', { tool_calls: 2 }), trial('c', { tool_calls: null })]);
    expect(measurements.tool_calls).toEqual({ n: 2, of: 3, total: 6, mean: 3 });
    expect(measurements.cost_nano_usd).toEqual({ n: 0, of: 3, total: null, mean: null });
  });

  test('tools are summed with the Sessions that used them', () => {
    expect(report([trial('a', { tools: { bash: 3, edit: 1 } }), trial('b', { tools: { bash: 1 } })]).tools).toEqual([
      { tool: 'bash', calls: 4, sessions: 2 },
      { tool: 'edit', calls: 1, sessions: 1 },
    ]);
  });
});

describe('tasks', () => {
  test('flaky is some but not all, in one lane', () => {
    const made = report([
      trial('a', { repetition: 1 }),
      trial('a', { repetition: 2, ...failed }),
      trial('b', { repetition: 1 }),
      trial('b', { repetition: 2 }),
    ]);
    expect(made.tasks.map((task) => [task.task, task.flaky])).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });

  test('suspect: no build, a solution that fails, or three scored trials without a pass; an idle agent raises no suspicion', () => {
    const suspect = (sessions: SessionSummary[]) => report(sessions).tasks[0]?.suspect;
    expect(suspect([trial('a', { ...unscored, failure_mode: 'build_failed' })])).toEqual(['its image does not build']);
    expect(suspect([trial('a', { ...failed, agent_kind: 'oracle' })])).toEqual(['its own solution does not pass']);
    expect(suspect(times(3, (i) => trial('a', { ...failed, repetition: i })))).toEqual(['no pass in 3 scored trials']);
    expect(suspect(times(2, (i) => trial('a', { ...failed, repetition: i })))).toEqual([]);
    expect(suspect(times(5, (i) => trial('a', { ...failed, repetition: i, agent_kind: 'nop' })))).toEqual([]);
  });
});

describe('attempts', () => {
  const attempt = (number: number, values: Partial<SessionSummary> = {}) =>
    trial('a', { trial: 'same', repetition: 1, attempt: number, ...values });

  test('a later attempt stands for the trial, the earlier one is listed', () => {
    const made = report([attempt(1, infrastructure), attempt(2)]);
    expect(made.trials).toMatchObject({ all: 1, passed: 1 });
    expect(made.superseded).toHaveLength(1);
    expect(made.exit.code).toBe(3);
    expect(report([attempt(1, infrastructure), attempt(2)], { accept_retries: true }).exit.code).toBe(0);
  });

  test('a trial run anew makes what came before outdated, not superseded', () => {
    const fresh = report([attempt(1, infrastructure), attempt(2, failed), attempt(1)]);
    expect([fresh.superseded.length, fresh.outdated, fresh.exit.code]).toEqual([0, 2, 0]);
    const changed = report([attempt(1, failed), trial('a', { trial: 'other agent bytes', repetition: 1 })]);
    expect([changed.superseded.length, changed.outdated, changed.exit.code]).toEqual([0, 1, 0]);
  });
});

describe('the exit code', () => {
  const code = (sessions: SessionSummary[], rest?: Partial<ReportInput>) => report(sessions, rest).exit.code;
  const ok = () => trial('ok');

  test.each<[string, () => number, number]>([
    ['every verdict is satisfied', () => code([ok(), ok()]), 0],
    ['some verdict is not', () => code([ok(), trial('x', failed)]), 1],
    ['a trial is unsettled', () => code([ok(), trial('x', unsettled)]), 3],
    ['a trial could not be scored', () => code([ok(), trial('x', unscored)]), 3],
    ['the image did not build', () => code([trial('x', { ...infrastructure, failure_mode: 'build_failed', attribution: 'task' })]), 3],
    [
      'a budget stopped a trial',
      () => code([trial('x', { ...unscored, verdict: null, attribution: 'budget', failure_mode: 'budget_reached' })]),
      3,
    ],
    ['a planned trial never started', () => code([ok()], { planned_trials: 2 }), 3],
    ['a task was refused', () => code([ok()], { refused: [refusal] }), 2],
    ['nothing was left to run', () => code([]), 2],
    ['it was interrupted', () => code([ok()], { interrupted: true }), 130],
    ['failed and unscored', () => code([trial('x', failed), trial('y', unscored)]), 3],
    ['unscored and refused', () => code([trial('y', unscored)], { refused: [refusal] }), 2],
    ['refused and interrupted', () => code([], { refused: [refusal], interrupted: true }), 130],
  ])('%s', (_, run, expected) => {
    expect(run()).toBe(expected);
  });

  test('every reason is named, the strongest first', () => {
    expect(report([trial('x', failed), trial('y', unscored)], { refused: [refusal] }).exit.reasons).toEqual([
      '1 task was refused',
      '1 trial could not be scored',
      '2 verdicts are not satisfied',
    ]);
  });

  test('a trial without a verdict is not counted among the verdicts', () => {
    const stopped = { ...unscored, verdict: null, attribution: 'cancelled', failure_mode: 'interrupted' } as const;
    expect(report([trial('x', failed), trial('y', stopped)], { interrupted: true }).exit.reasons).toEqual([
      'interrupted',
      '1 trial could not be scored',
      '1 verdict is not satisfied',
    ]);
  });
});

describe('what is shown where it occurs', () => {
  test('firmness, limits that were not enforced, warnings and missing isolation', () => {
    const made = report([
      trial('a', { firmness: 'live' }),
      trial('b', { firmness: 'confirmed', not_enforced: ['storage_mb'], isolation: 'none' }),
      trial('c', { firmness: 'unconfirmed', warnings: [{ code: 'tests_exposed', message: 'readable meanwhile', seq: 3 }] }),
    ]);
    expect(made.firmness.map(({ firmness, count }) => [firmness, count])).toEqual([
      ['live', 1],
      ['unconfirmed', 1],
    ]);
    expect(made.not_enforced).toEqual([{ limit: 'storage_mb', sessions: 1 }]);
    expect(made.warnings[0]).toMatchObject({ code: 'tests_exposed', count: 1, first: 'readable meanwhile' });
    expect(made.isolation_none).toBe(1);
    expect(made.lanes[0]?.isolation_none).toBe(true);
  });
});

describe('a comparison', () => {
  const A = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0];
  const B = [1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1];
  const side = (label: string, scores: readonly number[], values: Partial<SessionSummary> = {}) => ({
    label,
    trials: scores.map((score, i) => trial(`task-${i}`, { lane: label, ...(score === 1 ? {} : failed), ...values })),
  });
  const options = { level: 0.95, draws: 1000, random: seededRandom(2), allowMismatch: false };

  test('is paired by task: the reference pair', () => {
    const made = compareLanes(side('b', B), side('a', A), options);
    expect(made).toMatchObject({
      status: 'compared',
      tasks: 12,
      same: 8,
      df: 11,
      distinguishable: false,
      mcnemar: { only_baseline: 1, only_lane: 3, p: 0.625 },
      sign_flip: { p: 0.625, exact: true },
      per_task: [],
    });
    expect(made.fixed).toEqual(['task-1', 'task-5', 'task-9']);
    expect(made.broken).toEqual(['task-11']);
    expect(made.difference).toBeCloseTo(1 / 6, 12);
    expect(made.standard_error).toBeCloseTo(1 / 6, 12);
    expect(made.p).toBeCloseTo(0.3388006962, 9);
  });

  test('needs scored trials on both sides', () => {
    const other = side('a', [1, 1]);
    const made = compareLanes(
      side('b', [1, 0, 1]),
      { ...other, trials: [...other.trials.slice(1), trial('task-0', { ...unscored })] },
      options,
    );
    expect(made).toMatchObject({ status: 'compared', tasks: 1, not_comparable: ['task-0', 'task-2'] });
    expect(compareLanes(side('b', [1]), { label: 'a', trials: [trial('elsewhere')] }, options)).toMatchObject({
      status: 'nothing_in_common',
      difference: null,
    });
  });

  test.each<[string, Partial<SessionSummary>]>([
    ['task_digest', { task_digest: 'another' }],
    ['max_iterations', { max_iterations: 3 }],
    ['pass_threshold', { pass_threshold: 0.5 }],
    ['resources', { resources: { cpus: 2, memory_mb: 2048, pids: null, network: 'public' } }],
    ['not_enforced', { not_enforced: ['storage_mb'] }],
    ['isolation', { isolation: 'namespaces' }],
  ])('is refused when %s differs, and made under a banner when allowed', (code, values) => {
    const refused = compareLanes(side('b', [1, 0]), side('a', [1, 1], values), options);
    expect(refused).toMatchObject({ status: 'refused', difference: null, reasons: [{ code, tasks: ['task-0', 'task-1'] }] });
    expect(compareLanes(side('b', [1, 0]), side('a', [1, 1], values), { ...options, allowMismatch: true })).toMatchObject({
      status: 'compared',
      reasons: [{ code }],
      difference: 0.5,
    });
  });

  test('is refused without isolation even when both sides lack it', () => {
    expect(compareLanes(side('b', [1], { isolation: 'none' }), side('a', [1], { isolation: 'none' }), options)).toMatchObject({
      status: 'refused',
      reasons: [{ code: 'isolation_none' }],
    });
  });

  test('with repetitions makes claims per task, adjusted for their number', () => {
    const repeated = (label: string, passes: readonly number[]) => ({
      label,
      trials: passes.flatMap((count, task) =>
        times(5, (i) => trial(`task-${task}`, { lane: label, repetition: i + 1, ...(i < count ? {} : failed) })),
      ),
    });
    const made = compareLanes(repeated('b', [0, 5, 3]), repeated('a', [5, 5, 3]), options);
    expect(made.mcnemar).toBeNull();
    expect(made.per_task.map(({ task, p }) => [task, Number(p.toFixed(6))])).toEqual([
      ['task-0', 0.007937],
      ['task-1', 1],
      ['task-2', 1],
    ]);
    expect(made.per_task[0]?.holm).toBeCloseTo(3 * (2 / 252), 9);
  });

  test('a lane with incomplete usage marks the differences of usage', () => {
    const made = compareLanes(
      side('b', [1], { tokens: { input: 10, output: 1 }, cost_nano_usd: 5 }),
      side('a', [1], { tokens: { input: 30, output: 1 }, cost_nano_usd: 9, usage_incomplete: true }),
      options,
    );
    expect(made.usage).toEqual({ tokens_difference: 20, cost_difference_nano_usd: 4, incomplete: true });
  });
});

test('the same input and seed give the same report', () => {
  const make = () => JSON.stringify(makeReport(sampleInput(), { random: seededRandom(3) }));
  expect(make()).toBe(make());
});

test('any mixture of trials gives a report of the published shape, without NaN or Infinity', () => {
  const one = fc.record({
    task: fc.constantFrom('a', 'b', 'c'),
    lane: fc.constantFrom('x', 'y', null),
    repetition: fc.constantFrom(1, 2, 3, null),
    attempt: fc.constantFrom(1, 2, null),
    trial: fc.constantFrom('p', 'q', null),
    state: fc.constantFrom({}, failed, unscored, unsettled, infrastructure),
    agent_kind: fc.constantFrom('oracle', 'nop', 'command'),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 25 }), fc.boolean(), fc.option(fc.nat(30)), (trials, isRefused, planned_trials) => {
      const sessions = trials.map(({ state, ...values }) => trial(values.task, { ...values, ...state }));
      const made = report(sessions, { refused: isRefused ? [refusal] : [], planned_trials });
      const allFinite = (value: unknown): boolean =>
        typeof value === 'number'
          ? Number.isFinite(value)
          : value === null || typeof value !== 'object' || Object.values(value).every(allFinite);
      expect(allFinite(made)).toBe(true);
      expect(made.sessions.length + made.superseded.length + made.outdated).toBe(sessions.length);
      expect(made.trials.passed + made.trials.failed + made.trials.partial).toBe(made.trials.scored);
      expect(made.exit.code === 0).toBe(made.exit.reasons.length === 0);
    }),
    { numRuns: 100 },
  );
});
