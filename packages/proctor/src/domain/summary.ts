import type { EventRow, EventType } from './events.ts';
import { emptyFacts, type SessionFacts } from './session-facts.ts';
import { foldOf } from './session-facts-folds.ts';
import type { SessionSummary } from './session-summary.ts';
import { concludeTrial } from './trial-result.ts';

export type { SessionSummary } from './session-summary.ts';

/** Folds rows in order; data of high-volume types (`agent.output`) is never parsed. */
export class SummaryFold {
  #facts: SessionFacts;

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
    else foldOf(row.type)?.(facts, JSON.parse(row.data) as never, row);
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

/** An agent that gives any of these can be read, so that no tool call means 0 calls and not "unknown". */
const STRUCTURED: ReadonlySet<EventType> = new Set(['agent.message', 'agent.thinking', 'agent.plan', 'agent.tool_result']);

/** `name` is the last key of canonical JSON here, and a quote inside a string is escaped: the input, which may be a whole file, needs no parsing. */
function countTool(facts: SessionFacts, data: string): void {
  const at = data.lastIndexOf('"name":"');
  const name: unknown = at === -1 ? null : JSON.parse(data.slice(at + '"name":'.length, -1));
  if (typeof name !== 'string') return;
  facts.toolCalls = (facts.toolCalls ?? 0) + 1;
  facts.tools.set(name, (facts.tools.get(name) ?? 0) + 1);
}
