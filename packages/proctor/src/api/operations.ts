import { z } from 'zod';
import type { AgentVersion } from '../domain/agent-version.ts';
import { EnvironmentSpecSchema, type EnvironmentVersion } from '../domain/environment.ts';
import type { ChainFault } from '../domain/event-chain.ts';
import { CLIENT_EVENT_DATA, type ClientEventType, type EventRow } from '../domain/events.ts';
import type { Projection } from '../domain/session.ts';
import type { SessionSummary } from '../domain/summary.ts';
import type { Task } from '../domain/task.ts';

export type Capability = { name: string; state: 'on' | 'off' | 'absent'; reason: string | null };
export type SessionListing = {
  id: string;
  status: string;
  created_at: string;
  last_at: string;
  last_seq: number;
  experiment: string | null;
  lane: string | null;
  task: string | null;
  /** The living owner's process, or null. */
  owner: string | null;
};
/** One thing kept of a Session: a deliverable, a verifier's log or file, a process's output, the working directory's diff. */
export type SessionFile = {
  path: string;
  kind: 'deliverable' | 'verifier' | 'output' | 'diff' | 'log' | 'report';
  state: 'kept' | 'missing' | 'refused' | 'not_retained';
  bytes: number | null;
  sha256: string | null;
  seq: number;
  reason: string | null;
};
export type ExperimentListing = {
  name: string;
  created_at: string;
  last_at: string | null;
  sessions: number;
  settings: ExperimentSettings | null;
};
export type OwnedListing = {
  kind: string;
  id: string;
  session: string;
  state: 'living' | 'gone' | 'foreign';
  expires_at: string;
  bytes: number | null;
};

export const ExperimentSettingsSchema = z.looseObject({
  title: z.string().optional(),
  tasks: z.string(),
  command: z.string().optional(),
});
export type ExperimentSettings = z.infer<typeof ExperimentSettingsSchema>;

const recordName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'expected at most 64 lowercase letters, digits, dots, underscores and hyphens, a letter or digit first',
  );
const agentReference = z.union([z.string(), z.strictObject({ id: z.string(), version: z.int().optional() })]);
const versioned = z.strictObject({ id: z.string(), version: z.int().optional() });
const sessionId = z.strictObject({ session_id: z.string() });
const filter = z.strictObject({
  experiment: z.string().optional(),
  trial: z.string().optional(),
  ids: z.array(z.string()).optional(),
  limit: z.int().positive().optional(),
});

export const CreateSessionSchema = z.strictObject({
  agent: agentReference,
  environment_id: z.union([z.string(), versioned]),
  title: z.string().max(200).optional(),
  metadata: z.record(z.string().max(64), z.string().max(512)).optional(),
  /** Blob of a compiled task, from tasks.put. */
  task: z.string().optional(),
  experiment: z.strictObject({ name: z.string(), lane: z.string(), repetition: z.int(), attempt: z.int(), trial: z.string() }).optional(),
  mounts: z
    .array(z.strictObject({ path: z.string(), sha256: z.string() }))
    .max(16)
    .optional(),
  budget: z.string().optional(),
  /** Keep the filesystem as it is at settlement, for `proctor shell <session>`. */
  keep_state: z.boolean().optional(),
  regrades: z.string().optional(),
});

function declare<I extends z.ZodType, O>(method: 'GET' | 'POST' | 'DELETE', path: string, summary: string, input: I, output: z.ZodType<O>) {
  return { method, path, summary, input, output } as const;
}

/** What a caller can ask. Every door is a loop over this list. */
export const OPERATIONS = {
  'capabilities.list': declare(
    'GET',
    '/v1/capabilities',
    'Every part of the product as on, off or absent',
    z.strictObject({}),
    z.custom<Capability[]>(),
  ),
  'agents.create': declare(
    'POST',
    '/v1/agents',
    'Find or create an AgentVersion from an inline spec, by digest',
    z.strictObject({
      from: z.string().min(1),
      name: recordName.optional(),
      environment_names: z.array(z.string()).default([]),
    }),
    z.custom<AgentVersion>(),
  ),
  'agents.list': declare('GET', '/v1/agents', 'Every AgentVersion', z.strictObject({}), z.custom<AgentVersion[]>()),
  'agents.show': declare('GET', '/v1/agents/{id}', 'One AgentVersion, the latest unless named', versioned, z.custom<AgentVersion>()),
  'environments.create': declare(
    'POST',
    '/v1/environments',
    'Find or create an Environment version, by digest',
    z.strictObject({ name: recordName, spec: EnvironmentSpecSchema }),
    z.custom<EnvironmentVersion>(),
  ),
  'environments.list': declare(
    'GET',
    '/v1/environments',
    'Every Environment version',
    z.strictObject({}),
    z.custom<EnvironmentVersion[]>(),
  ),
  'environments.show': declare(
    'GET',
    '/v1/environments/{id}',
    'One Environment version, the latest unless named',
    versioned,
    z.custom<EnvironmentVersion>(),
  ),
  'tasks.put': declare(
    'POST',
    '/v1/tasks',
    'Keep a compiled task for Sessions to name',
    z.strictObject({ task: z.custom<Task>() }),
    z.custom<{ blob: string; digest: string }>(),
  ),
  'sessions.admit': declare(
    'POST',
    '/v1/sessions/admit',
    'Say what a Session would get, or why it would be refused; creates nothing',
    z.strictObject({ agent: agentReference, environment_id: z.union([z.string(), versioned]), task: z.custom<Task>() }),
    z.custom<Admission>(),
  ),
  'sessions.create': declare(
    'POST',
    '/v1/sessions',
    'Create a Session: freezes AgentVersion and Environment',
    CreateSessionSchema,
    z.custom<{ id: string }>(),
  ),
  'sessions.post_event': declare(
    'POST',
    '/v1/sessions/{session_id}/events',
    'Append a user.* event',
    z.strictObject({
      session_id: z.string(),
      type: z.enum(Object.keys(CLIENT_EVENT_DATA) as [ClientEventType, ...ClientEventType[]]),
      data: z.record(z.string(), z.unknown()),
    }),
    z.custom<{ seq: number; id: string }>(),
  ),
  'sessions.show': declare('GET', '/v1/sessions/{session_id}', 'The projection: a fold of the log', sessionId, z.custom<Projection>()),
  'sessions.list': declare('GET', '/v1/sessions', 'Sessions, newest first', filter, z.custom<SessionListing[]>()),
  'sessions.summaries': declare(
    'GET',
    '/v1/sessions/summaries',
    'The report fold of each Session, oldest first',
    filter,
    z.custom<SessionSummary[]>(),
  ),
  'sessions.events': declare(
    'GET',
    '/v1/sessions/{session_id}/events',
    'Events in seq order',
    z.strictObject({
      session_id: z.string(),
      after: z.int().min(0).default(0),
      types: z.array(z.string()).optional(),
      limit: z.int().min(1).max(10_000).default(1000),
    }),
    z.custom<EventRow[]>(),
  ),
  'sessions.verify': declare(
    'GET',
    '/v1/sessions/{session_id}/verify',
    'Re-verify the hash chain',
    sessionId,
    z.custom<{ events: number; absent: number; faults: ChainFault[] }>(),
  ),
  'sessions.files': declare('GET', '/v1/sessions/{session_id}/files', 'What was kept of a Session', sessionId, z.custom<SessionFile[]>()),
  'sessions.close': declare(
    'POST',
    '/v1/sessions/{session_id}/close',
    'Close a Session and remove its sandbox',
    sessionId,
    z.custom<{ closed: boolean }>(),
  ),
  'experiments.put': declare(
    'POST',
    '/v1/experiments',
    'Keep the settings that a client gives an experiment label',
    z.strictObject({ name: z.string(), settings: ExperimentSettingsSchema }),
    z.custom<{ name: string }>(),
  ),
  'experiments.list': declare(
    'GET',
    '/v1/experiments',
    'Experiment labels, latest first',
    z.strictObject({}),
    z.custom<ExperimentListing[]>(),
  ),
  'experiments.delete': declare(
    'DELETE',
    '/v1/experiments/{name}',
    'Delete the Sessions of a label',
    z.strictObject({ name: z.string() }),
    z.custom<{ sessions: number; events: number }>(),
  ),
  'sandboxes.list': declare(
    'GET',
    '/v1/sandboxes',
    'What this host still holds with our labels',
    z.strictObject({}),
    z.custom<OwnedListing[]>(),
  ),
  'sandboxes.ready': declare(
    'GET',
    '/v1/sandboxes/ready',
    'Whether the sandbox of an Environment answers now',
    z.strictObject({ environment_id: z.union([z.string(), versioned]) }),
    z.custom<{ ready: boolean; reason: string | null }>(),
  ),
  'store.collect': declare(
    'POST',
    '/v1/store/collect',
    'Remove what dead owners left, images past use, and blobs by age and size',
    z.strictObject({
      dry_run: z.boolean().default(false),
      all_stores: z.boolean().default(false),
      older_than_ms: z
        .number()
        .min(0)
        .default(30 * 24 * 3_600_000),
      max_bytes: z.number().min(0).nullable().default(null),
    }),
    z.custom<{ removed: OwnedListing[]; blobs: number; bytes: number; interrupted: number }>(),
  ),
} as const;

export type OperationName = keyof typeof OPERATIONS;
export type OperationInput<N extends OperationName> = z.input<(typeof OPERATIONS)[N]['input']>;
export type ParsedInput<N extends OperationName> = z.output<(typeof OPERATIONS)[N]['input']>;
export type OperationOutput<N extends OperationName> = z.output<(typeof OPERATIONS)[N]['output']>;

export type Admission = {
  provider: string;
  isolation: 'container' | 'namespaces' | 'none';
  /** How many Sessions of this kind may run at once; null = no bound of its own. */
  concurrency: number | null;
  cpus: number | null;
  memory_mb: number | null;
  network: string;
  not_enforced: string[];
  /** Things a report says once. */
  notes: string[];
};
