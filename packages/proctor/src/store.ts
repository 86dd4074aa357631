import type { EventDraft, EventRow, EventType } from './domain/events.ts';
import type { SessionSummary } from './domain/summary.ts';

/**
 * Contract: the store keeps what happened. A resolved write survives power loss. It must not interpret an event beyond sealing it, let two writers
 * append to one Session, lose an acknowledged event, or block the caller's event loop.
 */
export interface Store extends AsyncDisposable {
  /** Random, made with the store; in every label. */
  readonly id: string;
  readonly home: string;
  readonly readOnly: boolean;

  /** Creates a Session with its first events (seq 1…) and gives its only writer. */
  createSession(session: NewSession, first: readonly EventDraft[]): Promise<SessionWriter>;
  /** Takes a Session over from an owner that is gone: a new fencing token; the old writer's appends are refused. Errors: not_found, conflict (its owner lives). */
  claimSession(sessionId: string, owner: string): Promise<SessionWriter>;
  session(sessionId: string): Promise<SessionRow | null>;
  /** Newest first. */
  sessions(filter: SessionFilter): Promise<SessionRow[]>;
  /** Rows in `seq` order, in batches; `after` is exclusive. */
  events(sessionId: string, options?: { after?: number; types?: readonly EventType[]; limit?: number }): AsyncIterable<EventRow[]>;
  /** History, then live rows of any process, without gap or duplicate, until `signal` fires or the Session is closed. */
  follow(sessionId: string, options: { after: number; signal: AbortSignal }): AsyncIterable<EventRow>;
  /** The fold of domain/summary.ts over each Session's log, run where the rows are. Same order as `sessions(filter)` reversed: oldest first. */
  summaries(filter: SessionFilter): AsyncIterable<SessionSummary[]>;
  deleteSessions(filter: SessionFilter): Promise<{ sessions: number; events: number }>;

  /** Finds the record of this noun and name with this digest, else adds it as the next version. Immutable. */
  putRecord(record: NewRecord): Promise<StoredRecord>;
  record(noun: string, idOrName: string, version?: number): Promise<StoredRecord | null>;
  records(noun: string): Promise<StoredRecord[]>;
  deleteRecord(noun: string, id: string): Promise<void>;

  /** Content-addressed: the same bytes are kept once. Resolves when they are durable. */
  putBlob(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sha256: string; bytes: number }>;
  /** Null = no such blob (removed, or never kept). */
  blob(sha256: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Removes blobs that no Session names, older than `olderThanMs`, then the oldest beyond `maxBytes`. */
  collectBlobs(options: { olderThanMs: number; maxBytes: number | null; dryRun: boolean }): Promise<{ blobs: number; bytes: number }>;
  size(): Promise<{ databaseBytes: number; blobBytes: number; sessions: number }>;
}

export type NewSession = {
  id: string;
  owner: string;
  experiment: string | null;
  /** The trial identity, for reuse. */
  trial: string | null;
  lane: string | null;
  taskName: string | null;
  createdAt: string;
};

export interface SessionWriter {
  readonly sessionId: string;
  readonly lastSeq: number;
  /** Validates, seals and writes in one transaction; resolves when durable, with the sealed rows. Errors: stale_writer, store_full, store_unavailable. */
  append(drafts: readonly EventDraft[]): Promise<EventRow[]>;
  /** No more appends from here; the Session's owner is cleared. */
  release(): Promise<void>;
}

export type SessionRow = Omit<NewSession, 'owner'> & {
  /** null once released. */
  owner: string | null;
  status: 'pending' | 'running' | 'idle' | 'closed';
  lastSeq: number;
  lastAt: string;
};

export type SessionFilter = {
  ids?: readonly string[];
  experiment?: string;
  trial?: string;
  /** Not closed, and with an owner. */
  open?: boolean;
  before?: string;
  limit?: number;
};

/** `agent`, `environment`, `experiment`, … `body` is JSON. */
export type NewRecord = { noun: string; idPrefix: string; name: string; digest: string; body: unknown; createdAt: string };
export type StoredRecord = { noun: string; id: string; name: string; version: number; digest: string; body: unknown; createdAt: string };
