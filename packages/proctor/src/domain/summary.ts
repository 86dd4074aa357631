import type { EventRow } from './events.ts';
import type { Attribution, Firmness, OutcomeResult, TrialResult, Verdict } from './verdict.ts';

/** What a report says of one Session: a fold over its log. Absent measurements are null, never 0. */
export type SessionSummary = {
  session_id: string;
  experiment: string | null;
  trial: string | null;
  lane: string | null;
  task: string | null;
  task_digest: string | null;
  tags: string[];
  repetition: number | null;
  attempt: number | null;
  agent: { id: string; version: number; name: string; digest: string } | null;
  environment: { id: string; version: number; name: string; digest: string } | null;
  isolation: 'container' | 'namespaces' | 'none' | null;
  provider: string | null;
  created_at: string;
  ended_at: string | null;
  settled: boolean;
  verdict: Verdict | null;
  /** seq of the last outcome.evaluation_completed; null = there is none, and events_examined says how many were looked at. */
  verdict_seq: number | null;
  events_examined: number;
  outcome_result: OutcomeResult | null;
  /** Why it ended so: a closed list in domain/failure-modes.ts. */
  settle_reason: string | null;
  trial_result: TrialResult;
  attribution: Attribution | null;
  failure_mode: string | null;
  failure_detail: string | null;
  reward: number | null;
  rewards: Record<string, number> | null;
  pass_threshold: number | null;
  max_iterations: number | null;
  iterations: number | null;
  firmness: Firmness | null;
  firmness_reason: string | null;
  place: 'in_place' | 'isolated' | null;
  tokens: { input: number; output: number } | null;
  cost_nano_usd: number | null;
  tool_calls: number | null;
  tools: Record<string, number>;
  active_ms: number | null;
  clocks: { build_ms: number | null; provision_ms: number | null; agent_setup_ms: number | null; agent_ms: number | null; verifier_ms: number | null };
  agent_exit: string | null;
  not_enforced: string[];
  warnings: { code: string; message: string; seq: number }[];
  tests: { total: number; passed: number; failed: string[] } | null;
};

/** Folds rows in order; data of high-volume types (`agent.output`) is never parsed. */
export class SummaryFold {
  #sessionId: string;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  next(_row: EventRow): void {
    throw new Error(`not written yet: ${this.#sessionId}`);
  }

  summary(): SessionSummary {
    throw new Error('not written yet');
  }
}
