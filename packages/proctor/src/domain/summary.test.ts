import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seal } from './event-chain.ts';
import { EVENT_DATA, type EventDraft, type EventRow, type EventType } from './events.ts';
import { FAILURE_MODES } from './failure-modes.ts';
import { SessionSummarySchema } from './session-summary.ts';
import { SummaryFold } from './summary.ts';

const hash = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
let clock = 0;
const draft = <T extends EventType>(type: T, data: unknown): EventDraft => {
  clock += 1000;
  return {
    type,
    at: new Date(Date.UTC(2026, 0, 1) + clock).toISOString(),
    author: 'test',
    data: EVENT_DATA[type].parse(data),
  } as unknown as EventDraft;
};

function log(drafts: readonly EventDraft[]): EventRow[] {
  const rows: EventRow[] = [];
  for (const [index, one] of drafts.entries())
    rows.push(seal(one as never, { seq: index + 1, id: `evt_${index + 1}`, prev: rows.at(-1)?.hash ?? '' }, hash));
  return rows;
}

function fold(drafts: readonly EventDraft[]) {
  const state = new SummaryFold('sesn_1');
  for (const row of log(drafts)) state.next(row);
  const summary = state.summary();
  expect(SessionSummarySchema.parse(summary)).toEqual(summary);
  if (summary.failure_mode !== null) expect(Object.keys(FAILURE_MODES)).toContain(summary.failure_mode);
  return summary;
}

const created = draft('session.created', {
  agent: {
    id: 'agent_1',
    version: 2,
    name: 'mine',
    digest: 'ad',
    spec: { kind: 'command', settings: {}, files: [], environment_names: [] },
  },
  environment: {
    ...{ id: 'env_1', version: 1, name: 'default', digest: 'ed' },
    spec: {
      sandbox: 'auto',
      isolation: 'default',
      network: 'task',
      cpus: null,
      memory_mb: null,
      pids: null,
      max_cpus: null,
      max_memory_mb: null,
      build: true,
      image_template: null,
      ignore_image: false,
      capture_roots: [],
    },
  },
  sandbox: {
    provider: 'docker',
    isolation: 'container',
    image: null,
    workdir: null,
    cpus: 1,
    memory_mb: 512,
    pids: null,
    network: 'public',
    not_enforced: ['storage_mb'],
  },
  task: { name: 'hello', digest: 'td', format: 'harbor', blob: 'b', tags: ['easy'] },
  experiment: { name: 'nightly', lane: 'fast', repetition: 2, attempt: 1, trial: 'tt' },
  capture_roots: ['/app'],
});
const provisioned = draft('environment.provisioned', {
  ...{
    provider: 'docker',
    isolation: 'container',
    image_id: 'sha256:1',
    image_digest: null,
    image_built: true,
    platform: null,
    workdir: '/app',
  },
  ...{
    network: { mode: 'public', enforced: true },
    not_enforced: ['gpu_types'],
    engine: null,
    build_ms: 1000,
    provision_ms: 200,
    agent_setup_ms: null,
    build_log: null,
  },
});
const defined = (id = 'outc_1', max_iterations = 1) =>
  draft('outcome.defined', { outcome_id: id, definition: { description: 'do it', grader: { argv: ['true'] }, max_iterations } });
const runStarted = draft('run.started', { iteration: 1, input: null, time_limit_ms: null });
const runCompleted = draft('run.completed', { exit: { kind: 'exited', code: 0 }, active_ms: 700, stdout: null, stderr: null });
const runFailed = (reason = 'timed_out', exit: unknown = { kind: 'timed_out' }) =>
  draft('run.failed', { reason, detail: 'passed its limit', exit, active_ms: 900, stdout: null, stderr: null });
const verifier = draft('verifier.started', {
  outcome_id: 'outc_1',
  iteration: 1,
  argv: ['x'],
  user: null,
  place: 'in_place',
  pass: 'first',
  time_limit_ms: 1,
  left: [],
  left_policy: 'keep',
});
const verified = draft('verifier.completed', {
  ...{
    outcome_id: 'outc_1',
    iteration: 1,
    pass: 'first',
    exit: { kind: 'exited', code: 0 },
    duration_ms: 50,
    output: null,
    files: [],
    reward: 1,
    rewards: { reward: 1 },
  },
  ...{ reward_source: 'reward.txt', failure: null, failure_detail: null, tests: { total: 3, passed: 2, failed: ['t3'] } },
});
const evaluated = (values: object = {}, id = 'outc_1') =>
  draft('outcome.evaluation_completed', {
    ...{
      outcome_id: id,
      iteration: 1,
      verdict: 'satisfied',
      reward: 1,
      rewards: { reward: 1 },
      pass_threshold: 1,
      reward_minimum: 0,
      firmness: 'clean',
      firmness_reason: null,
    },
    ...{ failure: null, failure_detail: null, attribution: null, feedback: '', duration_ms: 60, evidence: [], ...values },
  });
const settled = (values: object = {}, id = 'outc_1') =>
  draft('outcome.settled', { outcome_id: id, result: 'satisfied', reason: null, iterations: 1, reward: 1, attribution: null, ...values });
const revision = { verdict: 'needs_revision', reward: 0, rewards: { reward: 0 } };
const ranOut = { result: 'max_iterations_reached', reward: 0 };
const begun = [created, provisioned, defined(), runStarted];

describe('a trial', () => {
  test('that is satisfied passed, with everything that was measured', () => {
    const summary = fold([...begun, runCompleted, verifier, verified, evaluated(), settled()]);
    expect(summary).toMatchObject({
      ...{
        settled: true,
        trial_result: 'passed',
        attribution: null,
        failure_mode: null,
        verdict: 'satisfied',
        verdict_seq: 8,
        events_examined: 9,
      },
      ...{
        reward: 1,
        iterations: 1,
        max_iterations: 1,
        firmness: 'clean',
        place: 'in_place',
        active_ms: 700,
        agent_exit: 'exit 0',
        agent_kind: 'command',
      },
      ...{
        lane: 'fast',
        task: 'hello',
        repetition: 2,
        trial: 'tt',
        not_enforced: ['storage_mb', 'gpu_types'],
        tests: { total: 3, passed: 2, failed: ['t3'] },
      },
      clocks: { build_ms: 1000, provision_ms: 200, agent_setup_ms: null, verifier_ms: 50 },
    });
  });

  test('that never had model calls or readable tools says null, not 0', () => {
    expect(fold([...begun, runCompleted, evaluated(), settled()])).toMatchObject({
      tokens: null,
      cost_nano_usd: null,
      tool_calls: null,
      tools: {},
    });
  });

  test('that used up its iterations failed', () => {
    expect(fold([...begun, runCompleted, evaluated(revision), settled(ranOut)])).toMatchObject({
      trial_result: 'failed',
      attribution: 'agent',
      failure_mode: 'wrong_result',
    });
  });

  test.each([
    [0.5, 0, 'partial', 'partial_result'],
    [0, 0, 'failed', 'wrong_result'],
    [-1, -1, 'failed', 'wrong_result'],
    [-0.5, -1, 'partial', 'partial_result'],
  ])('with reward %d above minimum %d is %s', (reward, reward_minimum, trial_result, failure_mode) => {
    expect(fold([...begun, runCompleted, evaluated({ ...revision, reward, reward_minimum }), settled(ranOut)])).toMatchObject({
      trial_result,
      failure_mode,
    });
  });

  test('whose agent timed out is still evaluated: it can pass, and says so when it failed', () => {
    expect(fold([...begun, runFailed(), evaluated(), settled()])).toMatchObject({
      trial_result: 'passed',
      failure_mode: null,
      agent_exit: 'timed out',
    });
    expect(fold([...begun, runFailed(), evaluated(revision), settled(ranOut)])).toMatchObject({
      trial_result: 'failed',
      failure_mode: 'agent_timed_out',
      attribution: 'timeout',
    });
    expect(fold([...begun, runFailed('non_zero_exit', { kind: 'exited', code: 3 }), evaluated(revision), settled(ranOut)])).toMatchObject({
      ...{ trial_result: 'failed', failure_mode: 'agent_exited_non_zero', attribution: 'agent', agent_exit: 'exit 3' },
    });
  });

  test('with a grading failure is unscored, with the attribution of the event', () => {
    const failure = {
      verdict: 'grading_failure',
      reward: null,
      rewards: null,
      failure: 'tampering',
      failure_detail: 'it was there before',
      attribution: 'contaminated',
    };
    expect(
      fold([
        ...begun,
        runCompleted,
        evaluated(failure),
        settled({ result: 'failed', reason: 'tampering', reward: null, attribution: 'contaminated' }),
      ]),
    ).toMatchObject({
      ...{
        trial_result: 'unscored',
        attribution: 'contaminated',
        failure_mode: 'tampering',
        failure_detail: 'it was there before',
        settle_reason: 'tampering',
        reward: null,
      },
    });
  });

  test.each([
    ['build', 'task', 'build_failed'],
    ['pull', 'infrastructure', 'pull_failed'],
    ['agent_setup', 'agent', 'agent_setup_failed'],
    ['provision', 'cancelled', 'interrupted'],
  ])('whose environment failed in %s is unscored, attributed to %s', (phase, attribution, failure_mode) => {
    const failed = draft('environment.failed', { phase, attribution, code: 'x', message: 'no', log: null });
    expect(
      fold([created, defined(), failed, settled({ result: 'failed', reason: `environment_${phase}`, attribution, reward: null })]),
    ).toMatchObject({
      ...{
        settled: true,
        trial_result: 'unscored',
        attribution,
        failure_mode,
        verdict: null,
        verdict_seq: null,
        events_examined: 4,
        iterations: 0,
      },
    });
  });

  test('whose platform failed after the sandbox was made does not say that it could not be made', () => {
    const failed = draft('environment.failed', {
      phase: 'provision',
      attribution: 'infrastructure',
      code: 'internal',
      message: 'no copy',
      log: null,
    });
    expect(
      fold([
        ...begun,
        runCompleted,
        failed,
        settled({ result: 'failed', reason: 'environment_provision', attribution: 'infrastructure', reward: null }),
      ]),
    ).toMatchObject({
      ...{ trial_result: 'unscored', failure_mode: 'infrastructure', failure_detail: 'no copy' },
    });
  });

  test('that someone interrupted is unscored and cancelled, whatever an earlier verdict said', () => {
    const end = settled({ result: 'interrupted', reason: 'user', attribution: 'cancelled', reward: null });
    expect(fold([...begun, runCompleted, evaluated(revision), end])).toMatchObject({
      trial_result: 'unscored',
      attribution: 'cancelled',
      failure_mode: 'interrupted',
      verdict: 'needs_revision',
    });
  });

  test('that a budget stopped is unscored and attributed to the budget', () => {
    const reached = draft('budget.reached', { budget_id: 'b', scope: 'session', limit: '1', used: '2' });
    expect(fold([...begun, reached, settled({ result: 'interrupted', reason: 'budget_reached', reward: null })])).toMatchObject({
      trial_result: 'unscored',
      attribution: 'budget',
      failure_mode: 'budget_reached',
    });
  });

  test('whose sandbox was lost is infrastructure', () => {
    expect(
      fold([
        ...begun,
        runFailed('infrastructure', null),
        settled({ result: 'failed', reason: 'sandbox_lost', attribution: 'infrastructure', reward: null }),
      ]),
    ).toMatchObject({
      ...{ trial_result: 'unscored', attribution: 'infrastructure', failure_mode: 'infrastructure' },
    });
  });

  test('that goes on is unsettled, and one whose owner died is not', () => {
    expect(fold(begun)).toMatchObject({
      settled: false,
      trial_result: 'unscored',
      failure_mode: 'unsettled',
      attribution: null,
      ended_at: null,
    });
    expect(fold([...begun, draft('session.closed', { reason: 'owner_gone' })])).toMatchObject({
      settled: true,
      failure_mode: 'owner_gone',
      attribution: 'infrastructure',
    });
  });

  test('whose owner died has no agent clock: the sweep that ended it may have come a day later', () => {
    clock += 86_400_000;
    const swept = draft('run.interrupted', { reason: 'owner_gone', active_ms: null });
    const { active_ms, clocks } = fold([...begun, swept, draft('session.closed', { reason: 'owner_gone' })]);
    expect([active_ms, clocks.agent_ms]).toEqual([null, null]);
    const interrupted = draft('run.interrupted', { reason: 'user', active_ms: 700 });
    expect(fold([...begun, interrupted])).toMatchObject({ active_ms: 700, clocks: { agent_ms: expect.any(Number) } });
  });

  test('with several outcomes passed only if all are satisfied', () => {
    const two = [...begun, runCompleted, evaluated(), settled(), defined('outc_2'), runCompleted];
    expect(fold([...two, evaluated({}, 'outc_2'), settled({}, 'outc_2')])).toMatchObject({ trial_result: 'passed', iterations: 2 });
    expect(fold([...two, evaluated(revision, 'outc_2'), settled(ranOut, 'outc_2')])).toMatchObject({ trial_result: 'failed' });
    expect(fold(two)).toMatchObject({ settled: false });
  });
});

test('usage adds up, and a call without a price makes it a lower bound', () => {
  const usage = (values: object) =>
    draft('usage.recorded', { model: 'm', phase: 'agent', input_tokens: 10, output_tokens: 5, cost_nano_usd: 7, ...values });
  expect(fold([...begun, usage({}), usage({})])).toMatchObject({
    tokens: { input: 20, output: 10 },
    cost_nano_usd: 14,
    usage_incomplete: false,
  });
  expect(fold([...begun, usage({}), usage({ cost_nano_usd: null })])).toMatchObject({
    tokens: { input: 20, output: 10 },
    cost_nano_usd: 7,
    usage_incomplete: true,
  });
});

test('tools are counted by name, whatever their input holds', () => {
  const use = (name: string, input: unknown) => draft('agent.tool_use', { id: 't', name, input });
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter((name) => name !== '__proto__'),
      fc.json(),
      (name, input) => {
        const summary = fold([created, use(name, JSON.parse(input)), use('bash', { command: 'echo \'"name":"x"}\'', name: 'y' })]);
        expect(summary.tool_calls).toBe(2);
        expect(summary.tools[name.toWellFormed()]).toBe(name === 'bash' ? 2 : 1);
      },
    ),
    { numRuns: 100 },
  );
  expect(fold([created, draft('agent.message', { text: 'done' })])).toMatchObject({ tool_calls: 0, tools: {} });
});

test('removed content breaks nothing', () => {
  const state = new SummaryFold('sesn_1');
  for (const row of log([...begun, runCompleted, evaluated(), settled()])) state.next({ ...row, data: null });
  expect(SessionSummarySchema.parse(state.summary())).toMatchObject({ events_examined: 7, settled: false, task: null });
});

test('any prefix of a log, in any mixture of its events, folds to a valid summary', () => {
  const pool = [
    created,
    provisioned,
    defined(),
    defined('outc_2', 3),
    runStarted,
    runCompleted,
    runFailed(),
    verifier,
    verified,
    evaluated(),
    evaluated(revision),
    settled(),
    settled(ranOut, 'outc_2'),
  ];
  pool.push(
    draft('agent.output', { stream: 'stdout', text: '{"x' }),
    draft('warning', { code: 'tools_changed', message: 'changed', paths: ['/bin/sh'] }),
    draft('session.closed', { reason: 'client' }),
  );
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pool), { maxLength: 40 }), (drafts) => {
      const summary = fold(drafts);
      expect(summary.events_examined).toBe(drafts.length);
      if (summary.trial_result === 'passed') expect(summary.failure_mode).toBeNull();
      else expect(summary.failure_mode).not.toBeNull();
    }),
    { numRuns: 300 },
  );
});
