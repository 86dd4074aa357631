import { z } from 'zod';
import { ATTRIBUTIONS, FIRMNESS } from './verdict.ts';

const frozen = z.strictObject({ id: z.string(), version: z.int(), name: z.string(), digest: z.string() });

/** What a report says of one Session: a fold over its log. Absent measurements are null, never 0. */
export const SessionSummarySchema = z.strictObject({
  session_id: z.string(),
  experiment: z.string().nullable(),
  /** The trial identity: a hash of everything that makes a trial the same trial. */
  trial: z.string().nullable(),
  lane: z.string().nullable(),
  task: z.string().nullable(),
  task_digest: z.string().nullable(),
  tags: z.array(z.string()),
  repetition: z.int().nullable(),
  attempt: z.int().nullable(),
  agent: frozen.nullable(),
  /** The kind of agent: `oracle`, `nop`, `command`, … */
  agent_kind: z.string().nullable(),
  environment: frozen.nullable(),
  isolation: z.enum(['container', 'namespaces', 'none']).nullable(),
  provider: z.string().nullable(),
  /** What the sandbox was asked for, after task and Environment were merged. */
  resources: z
    .strictObject({ cpus: z.number().nullable(), memory_mb: z.number().nullable(), pids: z.number().nullable(), network: z.string() })
    .nullable(),
  image_id: z.string().nullable(),
  created_at: z.string(),
  ended_at: z.string().nullable(),
  /** False: the trial has not ended, everything here is a fold up to now. */
  settled: z.boolean(),
  verdict: z.enum(['satisfied', 'needs_revision', 'grading_failure']).nullable(),
  /** seq of the last outcome.evaluation_completed; null = there is none, and events_examined says how many were looked at. */
  verdict_seq: z.int().nullable(),
  events_examined: z.int(),
  outcome_result: z.enum(['satisfied', 'max_iterations_reached', 'failed', 'interrupted']).nullable(),
  /** Why it ended so: a closed list in domain/failure-modes.ts. */
  settle_reason: z.string().nullable(),
  trial_result: z.enum(['passed', 'failed', 'partial', 'unscored']),
  attribution: z.enum(ATTRIBUTIONS).nullable(),
  failure_mode: z.string().nullable(),
  failure_detail: z.string().nullable(),
  reward: z.number().nullable(),
  rewards: z.record(z.string(), z.number()).nullable(),
  pass_threshold: z.number().nullable(),
  max_iterations: z.int().nullable(),
  /** Evaluations completed. */
  iterations: z.int().nullable(),
  firmness: z.enum(FIRMNESS).nullable(),
  firmness_reason: z.string().nullable(),
  place: z.enum(['in_place', 'isolated']).nullable(),
  tokens: z.strictObject({ input: z.int(), output: z.int() }).nullable(),
  cost_nano_usd: z.int().nullable(),
  /** True: some model call was recorded without tokens or without a price, so tokens and cost are at least this. */
  usage_incomplete: z.boolean(),
  /** Null = the agent gave no readable account of its tools. */
  tool_calls: z.int().nullable(),
  tools: z.record(z.string(), z.int()),
  /** Run time less waits. */
  active_ms: z.number().nullable(),
  clocks: z.strictObject({
    build_ms: z.number().nullable(),
    provision_ms: z.number().nullable(),
    agent_setup_ms: z.number().nullable(),
    agent_ms: z.number().nullable(),
    verifier_ms: z.number().nullable(),
  }),
  agent_exit: z.string().nullable(),
  not_enforced: z.array(z.string()),
  warnings: z.array(z.strictObject({ code: z.string(), message: z.string(), seq: z.int() })),
  tests: z.strictObject({ total: z.int(), passed: z.int(), failed: z.array(z.string()) }).nullable(),
  /** Set when the Session only grades again: the Session or prediction that it restores. */
  regrades: z.string().nullable(),
});
export type SessionSummary = z.infer<typeof SessionSummarySchema>;
