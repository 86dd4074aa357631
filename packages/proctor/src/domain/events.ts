import { z } from 'zod';
import { AgentSpecSchema } from './agent-version.ts';
import { EnvironmentSpecSchema } from './environment.ts';
import { ATTRIBUTIONS, FIRMNESS, GRADING_FAILURE_REASONS } from './verdict.ts';

/** Any JSON. That it is no more than JSON is seen when it is sealed; z.json() would look twice, at four times the cost. */
const json = z.custom<z.core.util.JSONType>((value) => value !== undefined);
const blob = z.strictObject({ sha256: z.string(), bytes: z.int() });
/** Output kept as a blob: head and tail when it was larger than the bound. */
const output = z.strictObject({ sha256: z.string(), bytes: z.int(), total_bytes: z.int(), cut: z.boolean() });
const exit = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('exited'), code: z.int() }),
  z.strictObject({ kind: z.literal('signalled'), signal: z.string() }),
  z.strictObject({ kind: z.literal('timed_out') }),
  z.strictObject({ kind: z.literal('aborted') }),
  z.strictObject({ kind: z.literal('not_started'), reason: z.string() }),
  z.strictObject({ kind: z.literal('lost'), cause: z.string() }),
]);
const ofOutcome = { outcome_id: z.string(), iteration: z.int().optional() };
const content = z.array(z.strictObject({ type: z.literal('text'), text: z.string() }));
const leftProcess = z.strictObject({ pid: z.int(), argv: z.string(), user: z.string(), listening: z.array(z.int()) });

export const DefineOutcomeSchema = z.strictObject({
  description: z.string().min(1),
  rubric: z.string().optional(),
  /** The verifier contract, as compiled. Its shape is the domain's VerifierContract. */
  grader: z.looseObject({ argv: z.array(z.string()) }).optional(),
  max_iterations: z.int().min(1).max(20).default(3),
  deliverables: z.array(z.string()).max(64).default([]),
  report: z.strictObject({ formats: z.array(z.enum(['json', 'markdown', 'junit'])), title: z.string().optional() }).optional(),
  feedback: z.enum(['none', 'summary', 'full']).default('summary'),
  live_processes: z.enum(['keep', 'kill', 'contest']).optional(),
  reward_key: z.string().optional(),
});

/** What a client may append. */
export const CLIENT_EVENT_DATA = {
  'user.message': z.strictObject({ content }),
  'user.define_outcome': DefineOutcomeSchema,
  'user.interrupt': z.strictObject({ reason: z.string().max(1000).optional() }),
  'user.tool_confirmation': z.strictObject({
    tool_use_id: z.string(),
    decision: z.enum(['allow', 'deny']),
    message: z.string().optional(),
  }),
} as const;
export type ClientEventType = keyof typeof CLIENT_EVENT_DATA;

/** The data of every event type, validated when written. */
export const EVENT_DATA = {
  ...CLIENT_EVENT_DATA,
  'session.created': z.strictObject({
    agent: z.strictObject({ id: z.string(), version: z.int(), name: z.string(), digest: z.string(), spec: AgentSpecSchema }),
    environment: z.strictObject({ id: z.string(), version: z.int(), name: z.string(), digest: z.string(), spec: EnvironmentSpecSchema }),
    /** What the sandbox is asked for, after task and Environment are merged. */
    sandbox: z.strictObject({
      provider: z.string(),
      isolation: z.enum(['container', 'namespaces', 'none']),
      image: z
        .discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('reference'), reference: z.string(), digest: z.string().nullable() }),
          z.strictObject({ kind: z.literal('build'), context_digest: z.string(), dockerfile: z.string() }),
        ])
        .nullable(),
      workdir: z.string().nullable(),
      cpus: z.number().nullable(),
      memory_mb: z.number().nullable(),
      pids: z.number().nullable(),
      network: z.string(),
      not_enforced: z.array(z.string()),
    }),
    /** Name, digest and format of the compiled task; the task itself is the blob. */
    task: z
      .strictObject({ name: z.string(), digest: z.string(), format: z.string(), blob: z.string(), tags: z.array(z.string()) })
      .nullable(),
    title: z.string().optional(),
    metadata: z.record(z.string().max(64), z.string().max(512)).default({}),
    /** The label of an Experiment's trial: `trial` is the hash that makes it reusable. */
    experiment: z.strictObject({ name: z.string(), lane: z.string(), repetition: z.int(), attempt: z.int(), trial: z.string() }).nullable(),
    mounts: z.array(z.strictObject({ path: z.string(), sha256: z.string() })).default([]),
    capture_roots: z.array(z.string()),
    regrades: z.string().optional(),
  }),
  'session.status': z.strictObject({
    status: z.enum(['pending', 'running', 'idle', 'closed']),
    stop_reason: z.enum(['end_turn', 'requires_action', 'budget_reached', 'retries_exhausted', 'error']).optional(),
  }),
  'session.closed': z.strictObject({ reason: z.enum(['client', 'interrupted', 'owner_gone', 'error']), detail: z.string().optional() }),
  'environment.provisioned': z.strictObject({
    provider: z.string(),
    isolation: z.enum(['container', 'namespaces', 'none']),
    image_id: z.string().nullable(),
    image_digest: z.string().nullable(),
    image_built: z.boolean(),
    platform: z.string().nullable(),
    workdir: z.string(),
    network: z.strictObject({ mode: z.string(), enforced: z.boolean() }),
    not_enforced: z.array(z.string()),
    engine: z.string().nullable(),
    build_ms: z.number().nullable(),
    provision_ms: z.number(),
    agent_setup_ms: z.number().nullable(),
    build_log: output.nullable(),
  }),
  'environment.failed': z.strictObject({
    phase: z.enum(['build', 'pull', 'provision', 'healthcheck', 'upload', 'agent_setup', 'verification']),
    attribution: z.enum(ATTRIBUTIONS),
    code: z.string(),
    message: z.string(),
    log: output.nullable(),
  }),
  'run.started': z.strictObject({ iteration: z.int(), input: blob.nullable(), time_limit_ms: z.number().nullable() }),
  'run.requires_action': z.strictObject({
    action: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('outcome_evaluation') }),
      z.strictObject({ kind: z.literal('tool_approval'), tool_use_id: z.string() }),
    ]),
    outcome_id: z.string().optional(),
    iteration: z.int().optional(),
  }),
  'run.completed': z.strictObject({ exit: exit.nullable(), active_ms: z.number(), stdout: output.nullable(), stderr: output.nullable() }),
  'run.failed': z.strictObject({
    reason: z.enum(['timed_out', 'non_zero_exit', 'not_started', 'agent_error', 'limit_reached', 'infrastructure']),
    detail: z.string(),
    exit: exit.nullable(),
    active_ms: z.number(),
    stdout: output.nullable(),
    stderr: output.nullable(),
  }),
  'run.interrupted': z.strictObject({ reason: z.enum(['user', 'budget_reached', 'owner_gone']), active_ms: z.number().nullable() }),
  'agent.message': z.strictObject({ text: z.string() }),
  'agent.thinking': z.strictObject({ text: z.string() }),
  'agent.plan': z.strictObject({ text: z.string() }),
  'agent.tool_use': z.strictObject({ id: z.string(), name: z.string(), input: json }),
  'agent.tool_result': z.strictObject({ id: z.string(), text: z.string(), is_error: z.boolean() }),
  'agent.reported_usage': z.strictObject({ usage: json }),
  'agent.output': z.strictObject({ stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  'model.request': z.looseObject({}),
  'usage.recorded': z.strictObject({
    model: z.string(),
    phase: z.enum(['agent', 'verifier', 'grader']),
    input_tokens: z.int().nullable(),
    output_tokens: z.int().nullable(),
    cost_nano_usd: z.int().nullable(),
  }),
  'budget.reached': z.strictObject({ budget_id: z.string(), scope: z.string(), limit: z.string(), used: z.string() }),
  'approval.requested': z.strictObject({ tool_use_id: z.string(), tool: z.string() }),
  'approval.settled': z.strictObject({ tool_use_id: z.string(), decision: z.enum(['allow', 'deny']) }),
  'outcome.defined': z.strictObject({ ...ofOutcome, definition: DefineOutcomeSchema }),
  'outcome.evaluation_started': z.strictObject({ ...ofOutcome }),
  'outcome.evaluation_progress': z.strictObject({ ...ofOutcome, elapsed_ms: z.number() }),
  'verifier.started': z.strictObject({
    ...ofOutcome,
    argv: z.array(z.string()),
    user: z.union([z.string(), z.int()]).nullable(),
    place: z.enum(['in_place', 'isolated']),
    /** `second` = the verification without the processes that were alive. */
    pass: z.enum(['first', 'second']),
    time_limit_ms: z.number(),
    left: z.array(leftProcess),
    left_policy: z.enum(['keep', 'kill', 'contest']),
  }),
  'verifier.completed': z.strictObject({
    ...ofOutcome,
    pass: z.enum(['first', 'second']),
    exit,
    duration_ms: z.number(),
    /** The log of both streams. */
    output: output.nullable(),
    /** The verdict directory as it was read (a tar), and each small file of it. */
    files: z.array(z.strictObject({ path: z.string(), bytes: z.int(), sha256: z.string().nullable() })),
    reward: z.number().nullable(),
    rewards: z.record(z.string(), z.number()).nullable(),
    reward_source: z.string().nullable(),
    failure: z.enum(GRADING_FAILURE_REASONS).nullable(),
    failure_detail: z.string().nullable(),
    tests: z.strictObject({ total: z.int(), passed: z.int(), failed: z.array(z.string()) }).nullable(),
  }),
  'outcome.evaluation_completed': z.strictObject({
    ...ofOutcome,
    verdict: z.enum(['satisfied', 'needs_revision', 'grading_failure']),
    reward: z.number().nullable(),
    rewards: z.record(z.string(), z.number()).nullable(),
    pass_threshold: z.number().nullable(),
    reward_minimum: z.number().nullable(),
    firmness: z.enum(FIRMNESS).nullable(),
    firmness_reason: z.string().nullable(),
    failure: z.enum(GRADING_FAILURE_REASONS).nullable(),
    failure_detail: z.string().nullable(),
    attribution: z.enum(ATTRIBUTIONS).nullable(),
    feedback: z.string(),
    duration_ms: z.number(),
    /** seq of the verifier.completed events it rests on. */
    evidence: z.array(z.int()),
  }),
  'outcome.settled': z.strictObject({
    ...ofOutcome,
    result: z.enum(['satisfied', 'max_iterations_reached', 'failed', 'interrupted']),
    reason: z.string().nullable(),
    iterations: z.int(),
    reward: z.number().nullable(),
    attribution: z.enum(ATTRIBUTIONS).nullable(),
  }),
  'deliverable.captured': z.strictObject({
    ...ofOutcome,
    path: z.string(),
    state: z.enum(['kept', 'missing', 'refused', 'not_retained']),
    kind: z.enum(['file', 'directory', 'diff', 'report']).nullable(),
    bytes: z.int().nullable(),
    sha256: z.string().nullable(),
    mode: z.int().nullable(),
    reason: z.string().optional(),
  }),
  warning: z.strictObject({
    code: z.enum([
      'tampering',
      'tools_changed',
      'tests_exposed',
      'isolation_weaker',
      'not_enforced',
      'network_closed',
      'left_processes',
      'verifier_inconsistent',
      'reward_note',
      'evidence_incomplete',
      'output_cut',
      'image_changed',
      'variable_left_out',
    ]),
    message: z.string(),
    paths: z.array(z.string()).optional(),
    outcome_id: z.string().optional(),
    iteration: z.int().optional(),
  }),
} as const;
export type EventType = keyof typeof EVENT_DATA;
export type EventData<T extends EventType> = z.infer<(typeof EVENT_DATA)[T]>;

/** Not yet sealed: what a writer hands to the store. `at` is RFC 3339 UTC with milliseconds. */
export type EventDraft<T extends EventType = EventType> = {
  [K in T]: { type: K; at: string; run_id?: string; author: string; data: z.input<(typeof EVENT_DATA)[K]> };
}[T];

/** One sealed entry of a Session's log. `data` null = content removed; the chain still holds. */
export type SessionEvent<T extends EventType = EventType> = {
  [K in T]: Seal & { type: K; data: EventData<K> };
}[T];

export type Seal = {
  /** Dense, from 1. */
  seq: number;
  id: string;
  at: string;
  run_id: string | null;
  author: string;
  data_sha256: string;
  /** Hash of the event before it; '' for the first. */
  prev: string;
  hash: string;
};

/** A row as stored: `data` is the canonical JSON text whose digest is `data_sha256`; null = removed. */
export type EventRow = Seal & { type: EventType; data: string | null };
