import { hash as nodeHash } from 'node:crypto';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { AppError, messageOf } from '../../domain/errors.ts';
import { sealText } from '../../domain/event-chain.ts';
import { EVENT_DATA, type EventDraft, type EventRow, type EventType } from '../../domain/events.ts';
import type { SessionRow } from '../../store.ts';
import type { SealedEvents } from './requests.ts';

/** A draft whose data was validated, with the schema's defaults, and written as canonical JSON. */
export type CheckedDraft = {
  type: EventType;
  at: string;
  run_id?: string;
  author: string;
  data: string;
  data_sha256: string;
  status: SessionRow['status'] | null;
};

export function sha256(content: string | Uint8Array): string {
  return nodeHash('sha256', content, 'hex');
}

/** Errors: internal, for whoever made the draft made it wrong. */
export function checkDraft(draft: EventDraft): CheckedDraft {
  const { type, at, run_id, author } = draft;
  const schema = EVENT_DATA[type];
  if (schema === undefined) throw new AppError('internal', `expected an event type, found ${String(type)}`);
  if (!TIME.test(at)) throw new AppError('internal', `expected the time of ${type} in UTC with milliseconds, found ${at}`);
  const parsed = schema.safeParse(draft.data);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new AppError('internal', `the data of ${type} does not fit: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`, {
      cause: parsed.error,
    });
  }
  try {
    const data = canonicalJson(parsed.data);
    return { type, at, run_id, author, data, data_sha256: sha256(data), status: statusAfter(type, parsed.data) };
  } catch (cause) {
    throw new AppError('internal', `the data of ${type} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

export type SealedBatch = { rows: EventRow[]; sealed: SealedEvents };

/** Chains the drafts to the event before them. */
export function sealDrafts(drafts: readonly CheckedDraft[], last: { seq: number; hash: string }, newId: () => string): SealedBatch {
  const rows: EventRow[] = [];
  const sealed: SealedEvents = { firstSeq: last.seq + 1, prev: last.hash, values: [], status: null, blobs: [], isEnding: isEnding(drafts) };
  let prev = last.hash;
  for (const draft of drafts) {
    const row = sealText(draft, { seq: last.seq + 1 + rows.length, id: newId(), prev }, sha256);
    prev = row.hash;
    rows.push(row);
    sealed.values.push(row.id, row.type, row.at, row.run_id, row.author, row.data_sha256, row.hash, row.data);
    sealed.status = draft.status ?? sealed.status;
    if (!CLAIMS.has(draft.type)) for (const digest of namedBlobs(draft.data)) sealed.blobs.push(digest);
  }
  return { rows, sealed };
}

/** Batches that follow each other, as one. */
export function joinSealed(batches: readonly SealedEvents[]): SealedEvents {
  const [first] = batches;
  if (first === undefined) throw new AppError('internal', 'expected a batch of events, found none');
  if (batches.length === 1) return first;
  return {
    firstSeq: first.firstSeq,
    prev: first.prev,
    values: batches.flatMap((batch) => batch.values),
    status: batches.reduce<SealedEvents['status']>((status, batch) => batch.status ?? status, null),
    blobs: batches.flatMap((batch) => batch.blobs),
    isEnding: batches.every((batch) => batch.isEnding),
  };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** What others say, not we: a digest in it keeps no blob. */
const CLAIMS: ReadonlySet<EventType> = new Set<EventType>([
  'agent.message',
  'agent.thinking',
  'agent.plan',
  'agent.tool_use',
  'agent.tool_result',
  'agent.reported_usage',
  'agent.output',
  'user.message',
  'usage.recorded',
]);

const BLOBS = /"(?:sha256|blob)":"([0-9a-f]{64})"/g;

/** In canonical text no string value can look like this: its quotes would be escaped. */
function namedBlobs(data: string): string[] {
  if (!data.includes('"sha256":"') && !data.includes('"blob":"')) return [];
  return Array.from(data.matchAll(BLOBS), ([, digest]) => digest ?? '');
}

/** How much a full disk is still asked to take. */
const ENDING_TEXT = 262_144;
const ENDINGS: ReadonlySet<EventType> = new Set<EventType>([
  'session.status',
  'session.closed',
  'environment.failed',
  'run.completed',
  'run.failed',
  'run.interrupted',
  'run.requires_action',
  'verifier.completed',
  'outcome.evaluation_completed',
  'outcome.settled',
  'budget.reached',
  'usage.recorded',
  'warning',
]);

export function isAllEndings(drafts: readonly { type: EventType }[]): boolean {
  return drafts.every(({ type }) => ENDINGS.has(type));
}

function isEnding(drafts: readonly CheckedDraft[]): boolean {
  return isAllEndings(drafts) && drafts.reduce((sum, draft) => sum + draft.data.length, 0) < ENDING_TEXT;
}

function statusAfter(type: EventType, data: unknown): SessionRow['status'] | null {
  if (type === 'session.closed') return 'closed';
  return type === 'session.status' ? EVENT_DATA['session.status'].parse(data).status : null;
}
