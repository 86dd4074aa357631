import type { EventData, EventRow, EventType } from './events.ts';
import type { SessionSummary } from './session-summary.ts';
import { concludeTrial, type OutcomeState } from './trial-result.ts';

export type { SessionSummary } from './session-summary.ts';

/** Folds rows in order; data of high-volume types (`agent.output`) is never parsed. */
export class SummaryFold {
  #facts: Facts;

  constructor(sessionId: string) {
    this.#facts = emptyFacts(sessionId);
  }

  next(row: EventRow): void {
    const facts = this.#facts;
    facts.events += 1;
    facts.createdAt ??= row.at;
    if (row.data === null) return;
    if (row.type === 'agent.tool_use') countTool(facts, row.data);
    else if (STRUCTURED.has(row.type)) facts.toolCalls ??= 0;
    else FOLDS[row.type]?.(facts, JSON.parse(row.data) as never, row);
  }

  summary(): SessionSummary {
    const facts = this.#facts;
    const outcomes = [...facts.outcomes.values()];
    const last = outcomes.at(-1) ?? null;
    const conclusion = concludeTrial({ ...facts, outcomes });
    return {
      session_id: facts.sessionId,
      ...facts.identity,
      isolation: facts.isolation,
      provider: facts.provider,
      image_id: facts.imageId,
      created_at: facts.createdAt ?? '',
      ended_at: conclusion.settled ? (facts.endedAt ?? null) : null,
      ...conclusion,
      verdict: facts.verdict?.verdict ?? null,
      verdict_seq: facts.verdictSeq,
      events_examined: facts.events,
      reward: facts.verdict?.reward ?? null,
      rewards: facts.verdict?.rewards ?? null,
      pass_threshold: facts.verdict?.pass_threshold ?? null,
      max_iterations: last?.maxIterations ?? null,
      iterations: outcomes.length === 0 ? null : facts.iterations,
      firmness: facts.verdict?.firmness ?? null,
      firmness_reason: facts.verdict?.firmness_reason ?? null,
      place: facts.place,
      tokens: facts.tokens,
      cost_nano_usd: facts.costNanoUsd,
      usage_incomplete: facts.usageIncomplete,
      tool_calls: facts.toolCalls,
      tools: Object.fromEntries(facts.tools),
      active_ms: facts.activeMs,
      clocks: { ...facts.clocks },
      agent_exit: facts.agentExit,
      not_enforced: [...facts.notEnforced],
      warnings: [...facts.warnings],
      tests: facts.tests,
    };
  }
}

type Identity = Pick<
  SessionSummary,
  | 'experiment'
  | 'trial'
  | 'lane'
  | 'task'
  | 'task_digest'
  | 'tags'
  | 'repetition'
  | 'attempt'
  | 'agent'
  | 'agent_kind'
  | 'environment'
  | 'resources'
  | 'regrades'
>;

type Facts = {
  sessionId: string;
  identity: Identity;
  isolation: SessionSummary['isolation'];
  provider: string | null;
  imageId: string | null;
  createdAt: string | null;
  endedAt: string | null;
  events: number;
  outcomes: Map<string, OutcomeState>;
  verdict: EventData<'outcome.evaluation_completed'> | null;
  verdictSeq: number | null;
  iterations: number;
  closed: EventData<'session.closed'> | null;
  environmentFailure: EventData<'environment.failed'> | null;
  provisioned: boolean;
  runFailure: EventData<'run.failed'> | null;
  runStartedAt: string | null;
  budgetReached: boolean;
  place: SessionSummary['place'];
  tokens: SessionSummary['tokens'];
  costNanoUsd: number | null;
  usageIncomplete: boolean;
  toolCalls: number | null;
  tools: Map<string, number>;
  activeMs: number | null;
  clocks: SessionSummary['clocks'];
  agentExit: string | null;
  notEnforced: Set<string>;
  warnings: SessionSummary['warnings'];
  tests: SessionSummary['tests'];
};

function emptyFacts(sessionId: string): Facts {
  return {
    sessionId,
    identity: {
      experiment: null,
      trial: null,
      lane: null,
      task: null,
      task_digest: null,
      tags: [],
      repetition: null,
      attempt: null,
      agent: null,
      agent_kind: null,
      environment: null,
      resources: null,
      regrades: null,
    },
    isolation: null,
    provider: null,
    imageId: null,
    createdAt: null,
    endedAt: null,
    events: 0,
    outcomes: new Map(),
    verdict: null,
    verdictSeq: null,
    iterations: 0,
    closed: null,
    environmentFailure: null,
    provisioned: false,
    runFailure: null,
    runStartedAt: null,
    budgetReached: false,
    place: null,
    tokens: null,
    costNanoUsd: null,
    usageIncomplete: false,
    toolCalls: null,
    tools: new Map(),
    activeMs: null,
    clocks: { build_ms: null, provision_ms: null, agent_setup_ms: null, agent_ms: null, verifier_ms: null },
    agentExit: null,
    notEnforced: new Set(),
    warnings: [],
    tests: null,
  };
}

/** An agent that gives any of these can be read, so that no tool call means 0 calls and not "unknown". */
const STRUCTURED: ReadonlySet<EventType> = new Set(['agent.message', 'agent.thinking', 'agent.plan', 'agent.tool_result']);

type Folds = { [K in EventType]?: (facts: Facts, data: EventData<K>, row: EventRow) => void };

const TYPED_FOLDS: Folds = {
  'session.created': (facts, data) => {
    const { agent, environment, experiment, task, sandbox } = data;
    facts.identity = {
      experiment: experiment?.name ?? null,
      trial: experiment?.trial ?? null,
      lane: experiment?.lane ?? null,
      task: task?.name ?? null,
      task_digest: task?.digest ?? null,
      tags: task?.tags ?? [],
      repetition: experiment?.repetition ?? null,
      attempt: experiment?.attempt ?? null,
      agent: { id: agent.id, version: agent.version, name: agent.name, digest: agent.digest },
      agent_kind: agent.spec.kind,
      environment: { id: environment.id, version: environment.version, name: environment.name, digest: environment.digest },
      resources: { cpus: sandbox.cpus, memory_mb: sandbox.memory_mb, pids: sandbox.pids, network: sandbox.network },
      regrades: data.regrades ?? null,
    };
    facts.isolation = sandbox.isolation;
    facts.provider = sandbox.provider;
    for (const limit of sandbox.not_enforced) facts.notEnforced.add(limit);
  },
  'session.closed': (facts, data, row) => {
    facts.closed = data;
    facts.endedAt ??= row.at;
  },
  'environment.provisioned': (facts, data) => {
    facts.provisioned = true;
    facts.isolation = data.isolation;
    facts.provider = data.provider;
    facts.imageId = data.image_id;
    facts.clocks = { ...facts.clocks, build_ms: data.build_ms, provision_ms: data.provision_ms, agent_setup_ms: data.agent_setup_ms };
    for (const limit of data.not_enforced) facts.notEnforced.add(limit);
  },
  'environment.failed': (facts, data, row) => {
    facts.environmentFailure ??= data;
    facts.endedAt = row.at;
  },
  'run.started': (facts, _data, row) => {
    facts.runStartedAt = row.at;
    facts.runFailure = null;
  },
  'run.completed': (facts, data, row) => {
    endRun(facts, data.active_ms, row.at);
    facts.agentExit = data.exit === null ? 'completed' : exitText(data.exit);
  },
  'run.failed': (facts, data, row) => {
    endRun(facts, data.active_ms, row.at);
    facts.runFailure = data;
    facts.agentExit = data.exit === null ? data.reason : exitText(data.exit);
  },
  'run.interrupted': (facts, data, row) => {
    endRun(facts, data.active_ms, row.at);
    facts.agentExit = `interrupted (${data.reason})`;
  },
  'usage.recorded': (facts, data) => {
    if (data.input_tokens === null || data.output_tokens === null || data.cost_nano_usd === null) facts.usageIncomplete = true;
    if (data.input_tokens !== null || data.output_tokens !== null) {
      const before = facts.tokens ?? { input: 0, output: 0 };
      facts.tokens = { input: before.input + (data.input_tokens ?? 0), output: before.output + (data.output_tokens ?? 0) };
    }
    if (data.cost_nano_usd !== null) facts.costNanoUsd = (facts.costNanoUsd ?? 0) + data.cost_nano_usd;
  },
  'budget.reached': (facts) => {
    facts.budgetReached = true;
  },
  'outcome.defined': (facts, data) => {
    facts.outcomes.set(data.outcome_id, { maxIterations: data.definition.max_iterations, evaluation: null, settled: null });
  },
  'verifier.started': (facts, data) => {
    facts.place = data.place;
  },
  'verifier.completed': (facts, data) => {
    facts.clocks = { ...facts.clocks, verifier_ms: (facts.clocks.verifier_ms ?? 0) + data.duration_ms };
    if (data.pass === 'first') facts.tests = data.tests;
  },
  'outcome.evaluation_completed': (facts, data, row) => {
    facts.iterations += 1;
    facts.verdict = data;
    facts.verdictSeq = row.seq;
    const outcome = facts.outcomes.get(data.outcome_id);
    if (outcome !== undefined) outcome.evaluation = data;
  },
  'outcome.settled': (facts, data, row) => {
    const outcome = facts.outcomes.get(data.outcome_id);
    if (outcome !== undefined) outcome.settled = data;
    facts.endedAt = row.at;
  },
  warning: (facts, data, row) => {
    const paths = data.paths === undefined || data.paths.length === 0 ? '' : `: ${data.paths.join(', ')}`;
    facts.warnings.push({ code: data.code, message: `${data.message}${paths}`, seq: row.seq });
  },
};
/** Rows were validated when they were written; a fold reads them as they stand. */
const FOLDS = TYPED_FOLDS as Partial<Record<EventType, (facts: Facts, data: never, row: EventRow) => void>>;

/** `name` is the last key of canonical JSON here, and a quote inside a string is escaped: the input, which may be a whole file, needs no parsing. */
function countTool(facts: Facts, data: string): void {
  const at = data.lastIndexOf('"name":"');
  const name: unknown = at === -1 ? null : JSON.parse(data.slice(at + '"name":'.length, -1));
  if (typeof name !== 'string') return;
  facts.toolCalls = (facts.toolCalls ?? 0) + 1;
  facts.tools.set(name, (facts.tools.get(name) ?? 0) + 1);
}

function endRun(facts: Facts, activeMs: number | null, at: string): void {
  if (activeMs !== null) facts.activeMs = (facts.activeMs ?? 0) + activeMs;
  if (facts.runStartedAt === null) return;
  const wallMs = Math.max(0, Date.parse(at) - Date.parse(facts.runStartedAt));
  facts.clocks = { ...facts.clocks, agent_ms: (facts.clocks.agent_ms ?? 0) + wallMs };
  facts.runStartedAt = null;
}

function exitText(exit: NonNullable<EventData<'run.completed'>['exit']>): string {
  switch (exit.kind) {
    case 'exited':
      return `exit ${exit.code}`;
    case 'signalled':
      return `signal ${exit.signal}`;
    case 'timed_out':
      return 'timed out';
    case 'aborted':
      return 'aborted';
    case 'not_started':
      return 'not started';
    case 'lost':
      return 'lost';
    default:
      return exit satisfies never;
  }
}
