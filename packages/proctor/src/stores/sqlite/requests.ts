import type { MessagePort } from 'node:worker_threads';
import type { EventRow, EventType } from '../../domain/events.ts';
import type { SessionSummary } from '../../domain/summary.ts';
import type { NewRecord, NewSession, SessionFilter, SessionRow, StoredRecord } from '../../store.ts';

/** What the worker answers, by name: reads at once, writes with the next commit. Only values that structured clone carries. */
export type Reads = {
  session(id: string): SessionRow | null;
  sessions(filter: SessionFilter): SessionRow[];
  events(id: string, page: EventsPage): { rows: EventRow[]; more: boolean; ended: boolean };
  summaries(filter: SessionFilter, after: number): { summaries: SessionSummary[]; next: number | null };
  claimable(id: string): { token: number; owner: string | null };
  record(noun: string, idOrName: string, version: number | null): StoredRecord | null;
  records(noun: string): StoredRecord[];
  blob(sha256: string): { bytes: number; content: Uint8Array | null } | null;
  size(): { databaseBytes: number; blobBytes: number; sessions: number };
  watch(on: boolean): null;
};
export type Writes = {
  create(session: NewSession, sealed: SealedEvents): { session: number; token: number };
  /** `later`: the rest of a large append, in order; null in it = give all of it up. */
  append(request: AppendRequest, later?: Iterable<SealedEvents | null>): null;
  claim(id: string, token: number, owner: string): WriterPlace;
  release(place: { session: number; token: number }): null;
  deleteSessions(filter: SessionFilter, atMost: number): { sessions: number; events: number };
  putRecord(record: NewRecord & { body: string }, newId: string): StoredRecord;
  deleteRecord(noun: string, id: string): null;
  putBlob(sha256: string, bytes: number, putAt: number, content: Uint8Array | null): null;
  collectBlobs(options: CollectOptions): { blobs: number; bytes: number };
  /** Gives unused pages back to the disk; how many are left. */
  shrink(pages: number): number;
};
export type Requests = Reads & Writes;

export type EventsPage = { after: number; types: readonly EventType[] | null; limit: number };
export type CollectOptions = { now: number; olderThanMs: number; maxBytes: number | null; dryRun: boolean };
export type WriterPlace = { session: number; token: number; lastSeq: number; lastHash: string };
export type AppendRequest = { session: number; token: number; sealed: SealedEvents };

/** Rows of one append, flat because that crosses threads at half the cost of objects. `prev` of each is the hash before it. */
export type SealedEvents = {
  firstSeq: number;
  /** Hash of the event before the first. */
  prev: string;
  /** COLUMNS values for each event: id, type, at, run_id, author, data_sha256, hash, data. */
  values: (string | null)[];
  /** Set when an event of the batch changes it. */
  status: SessionRow['status'] | null;
  /** Digests of blobs that the batch names. */
  blobs: string[];
  /** Only events that say how something ended: a full disk still takes them. */
  isEnding: boolean;
};
export const COLUMNS = 8;

export type Opening = { home: string; reserveBytes: number; newId: string };
/** The worker's end of where parts of large appends come; `posted` holds their number so far, to wait on. */
export type PartsEnd = { port: MessagePort; posted: SharedArrayBuffer };
export type LaterPart = { call: number; sealed: SealedEvents | null };
export type Opened = { id: string; readOnly: boolean };

/** `later`: how many parts follow where parts come. */
export type ToWorker = { call: number; name: keyof Requests; args: unknown[]; later?: number } | { close: true };
export type Failure = { code: string; message: string; details: Record<string, unknown> };
export type Answer = { call: number; value: unknown } | { call: number; failure: Failure };
export type FromWorker = { opened: Opened } | { refused: Failure } | { answers: Answer[] } | { changed: true } | { closed: true };
