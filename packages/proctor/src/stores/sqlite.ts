import path from 'node:path';
import { canonicalJson } from '../domain/canonical-json.ts';
import { AppError } from '../domain/errors.ts';
import type { EventDraft, EventRow, EventType } from '../domain/events.ts';
import type { SessionSummary } from '../domain/summary.ts';
import type { NewRecord, NewSession, SessionFilter, SessionRow, SessionWriter, Store, StoredRecord } from '../store.ts';
import { isAlive, parseOwner } from '../system/processes.ts';
import { Blobs } from './sqlite/blobs.ts';
import { checkDraft, sealDrafts } from './sqlite/drafts.ts';
import { Followers } from './sqlite/followers.ts';
import { RandomIds } from './sqlite/random-ids.ts';
import type { WriterPlace } from './sqlite/requests.ts';
import { SqliteSessionWriter } from './sqlite/session-writer.ts';
import { WorkerClient } from './sqlite/worker-client.ts';

export type StoreOptions = {
  home: string;
  /** Whether the process that an owner's text names still runs. */
  ownerIsAlive?: (owner: string) => boolean;
  /** What a full disk gives back to record its own failure. */
  reserveBytes?: number;
};

/** Opens the store in `home`, made where it is not yet there; where it cannot be written it can be read. Errors: store_unavailable, store_full, corrupt. */
export async function openSqliteStore(options: StoreOptions): Promise<Store> {
  const ids = new RandomIds();
  const followers = new Followers();
  const home = path.resolve(options.home);
  const client = new WorkerClient({ home, reserveBytes: options.reserveBytes ?? RESERVE_BYTES, newId: ids.next('store') }, () =>
    followers.wakeAll(),
  );
  const { id, readOnly } = await client.opened;
  client.rest();
  return new SqliteStore({ id, home, readOnly, client, ids, followers, ownerIsAlive: options.ownerIsAlive ?? ownerIsAlive });
}

const RESERVE_BYTES = 10 * 1_048_576;
const PAGE_EVENTS = 500;
const DELETED_AT_ONCE = 20;
/** Pages of 4 KiB. */
const SHRUNK_AT_ONCE = 500;

type Parts = {
  id: string;
  home: string;
  readOnly: boolean;
  client: WorkerClient;
  ids: RandomIds;
  followers: Followers;
  ownerIsAlive: (owner: string) => boolean;
};

class SqliteStore implements Store {
  readonly id: string;
  readonly home: string;
  readonly readOnly: boolean;
  readonly #client: WorkerClient;
  readonly #ids: RandomIds;
  readonly #followers: Followers;
  readonly #blobs: Blobs;
  readonly #ownerIsAlive: (owner: string) => boolean;

  constructor(parts: Parts) {
    this.id = parts.id;
    this.home = parts.home;
    this.readOnly = parts.readOnly;
    this.#client = parts.client;
    this.#ids = parts.ids;
    this.#followers = parts.followers;
    this.#ownerIsAlive = parts.ownerIsAlive;
    this.#blobs = new Blobs(parts.client, parts.home);
  }

  async createSession(session: NewSession, first: readonly EventDraft[]): Promise<SessionWriter> {
    const { rows, sealed } = sealDrafts(first.map(checkDraft), { seq: 0, hash: '' }, this.#newEventId);
    const place = await this.#client.call('create', session, sealed);
    return this.#writer(session.id, { ...place, lastSeq: rows.length, lastHash: rows.at(-1)?.hash ?? '' });
  }

  async claimSession(sessionId: string, owner: string): Promise<SessionWriter> {
    const found = await this.#client.call('claimable', sessionId);
    if (found.owner !== null && this.#ownerIsAlive(found.owner)) {
      throw new AppError(
        'conflict',
        `expected Session ${sessionId} to be free, found that its owner ${found.owner} still runs: wait for it, or end that process`,
      );
    }
    return this.#writer(sessionId, await this.#client.call('claim', sessionId, found.token, owner));
  }

  session(sessionId: string): Promise<SessionRow | null> {
    return this.#client.call('session', sessionId);
  }

  sessions(filter: SessionFilter): Promise<SessionRow[]> {
    return this.#client.call('sessions', filter);
  }

  async *events(
    sessionId: string,
    options: { after?: number; types?: readonly EventType[]; limit?: number } = {},
  ): AsyncGenerator<EventRow[]> {
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    const read = (after: number) =>
      this.#client.call('events', sessionId, { after, types: options.types ?? null, limit: Math.min(PAGE_EVENTS, left) });
    let page = left > 0 ? await read(options.after ?? 0) : null;
    while (page !== null) {
      const { rows, more } = page;
      left -= rows.length;
      // Read while the caller works on what it has.
      const next = more && left > 0 ? read(rows.at(-1)?.seq ?? 0) : null;
      next?.catch(() => undefined);
      if (rows.length > 0) yield rows;
      page = await next;
    }
  }

  follow(sessionId: string, options: { after: number; signal: AbortSignal }): AsyncGenerator<EventRow> {
    return this.#followers.follow(this.#client, sessionId, options);
  }

  async *summaries(filter: SessionFilter): AsyncGenerator<SessionSummary[]> {
    for (let after: number | null = 0; after !== null; ) {
      const slice: { summaries: SessionSummary[]; next: number | null } = await this.#client.call('summaries', filter, after);
      if (slice.summaries.length > 0) yield slice.summaries;
      after = slice.next;
    }
  }

  async deleteSessions(filter: SessionFilter): Promise<{ sessions: number; events: number }> {
    const total = { sessions: 0, events: 0 };
    for (;;) {
      const limit = filter.limit === undefined ? undefined : filter.limit - total.sessions;
      if (limit !== undefined && limit <= 0) break;
      const part = await this.#client.call('deleteSessions', { ...filter, limit }, DELETED_AT_ONCE);
      total.sessions += part.sessions;
      total.events += part.events;
      if (part.sessions < DELETED_AT_ONCE) break;
    }
    this.#followers.wakeAll();
    await this.#shrink();
    return total;
  }

  async putRecord(record: NewRecord): Promise<StoredRecord> {
    return parsed(await this.#client.call('putRecord', { ...record, body: canonicalJson(record.body) }, this.#ids.next(record.idPrefix)));
  }

  async record(noun: string, idOrName: string, version?: number): Promise<StoredRecord | null> {
    const found = await this.#client.call('record', noun, idOrName, version ?? null);
    return found === null ? null : parsed(found);
  }

  async records(noun: string): Promise<StoredRecord[]> {
    return (await this.#client.call('records', noun)).map(parsed);
  }

  async deleteRecord(noun: string, id: string): Promise<void> {
    await this.#client.call('deleteRecord', noun, id);
  }

  putBlob(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sha256: string; bytes: number }> {
    return this.#blobs.put(content);
  }

  blob(sha256: string): Promise<AsyncIterable<Uint8Array> | null> {
    return this.#blobs.get(sha256);
  }

  async collectBlobs(options: {
    olderThanMs: number;
    maxBytes: number | null;
    dryRun: boolean;
  }): Promise<{ blobs: number; bytes: number }> {
    const collected = await this.#client.call('collectBlobs', { ...options, now: Date.now() });
    if (!options.dryRun) await this.#shrink();
    return collected;
  }

  size(): Promise<{ databaseBytes: number; blobBytes: number; sessions: number }> {
    return this.#client.call('size');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }

  /** In steps that hold up no one's appends. */
  async #shrink(): Promise<void> {
    while ((await this.#client.call('shrink', SHRUNK_AT_ONCE)) > 0);
  }

  readonly #newEventId = (): string => this.#ids.next('evnt');

  #writer(sessionId: string, place: WriterPlace): SessionWriter {
    const appended = (): void => this.#followers.wake(sessionId);
    return new SqliteSessionWriter(sessionId, place, { client: this.#client, newId: this.#newEventId, appended });
  }
}

/** An owner that nobody can make sense of counts as alive: it is not provably gone. */
function ownerIsAlive(text: string): boolean {
  const owner = parseOwner(text);
  return owner === null || isAlive(owner);
}

/** The worker hands a record's body over as the text that it keeps. */
function parsed(record: StoredRecord): StoredRecord {
  return typeof record.body === 'string' ? { ...record, body: JSON.parse(record.body) } : record;
}
