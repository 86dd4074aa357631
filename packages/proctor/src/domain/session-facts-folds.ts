import type { EventData, EventRow, EventType } from './events.ts';
import type { SessionFacts } from './session-facts.ts';

/** What an event of this type changes in the facts; undefined = nothing, and its data need not be parsed. Rows were validated when they were written. */
export function foldOf(type: EventType): ((facts: SessionFacts, data: never, row: EventRow) => void) | undefined {
  return FOLDS[type] as ((facts: SessionFacts, data: never, row: EventRow) => void) | undefined;
}

type Folds = { [K in EventType]?: (facts: SessionFacts, data: EventData<K>, row: EventRow) => void };

const FOLDS: Folds = {
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
/** A Run that nobody timed ended before its event was written, by a sweep that may have come a day later: that time is nobody's measurement. */
function endRun(facts: SessionFacts, activeMs: number | null, at: string): void {
  const startedAt = facts.runStartedAt;
  facts.runStartedAt = null;
  if (activeMs === null) return;
  facts.activeMs = (facts.activeMs ?? 0) + activeMs;
  if (startedAt === null) return;
  const wallMs = Math.max(0, Date.parse(at) - Date.parse(startedAt));
  facts.clocks = { ...facts.clocks, agent_ms: (facts.clocks.agent_ms ?? 0) + wallMs };
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
