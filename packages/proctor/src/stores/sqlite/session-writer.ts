import { AppError } from '../../domain/errors.ts';
import type { EventDraft, EventRow } from '../../domain/events.ts';
import type { SessionWriter } from '../../store.ts';
import { type CheckedDraft, checkDraft, sealDrafts } from './drafts.ts';
import type { WriterPlace } from './requests.ts';
import type { WorkerClient } from './worker-client.ts';

type Waiting = { drafts: CheckedDraft[]; resolve: (rows: EventRow[]) => void; reject: (error: unknown) => void };

/** Events that go to the worker in one message; more wait for its answer. */
const MESSAGE_EVENTS = 1000;

/** The one writer of a Session. Appends that come while one is on its way go together with the next, in order. */
export class SqliteSessionWriter implements SessionWriter {
  readonly sessionId: string;
  readonly #client: WorkerClient;
  readonly #newId: () => string;
  readonly #appended: () => void;
  readonly #place: WriterPlace;
  #waiting: Waiting[] = [];
  #sending: Promise<void> | null = null;
  #ended: AppError | null = null;

  constructor(sessionId: string, place: WriterPlace, parts: { client: WorkerClient; newId: () => string; appended: () => void }) {
    this.sessionId = sessionId;
    this.#place = { ...place };
    this.#client = parts.client;
    this.#newId = parts.newId;
    this.#appended = parts.appended;
  }

  get lastSeq(): number {
    return this.#place.lastSeq;
  }

  async append(drafts: readonly EventDraft[]): Promise<EventRow[]> {
    if (this.#ended !== null) throw this.#ended;
    if (drafts.length === 0) return [];
    const checked = drafts.map(checkDraft);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ drafts: checked, resolve, reject });
      this.#sending ??= this.#sendAll();
    });
  }

  async release(): Promise<void> {
    if (this.#ended !== null) return;
    this.#ended = new AppError(
      'stale_writer',
      `expected to append to Session ${this.sessionId}, found that its writer was released: claim it first`,
    );
    await this.#sending;
    await this.#client.call('release', { session: this.#place.session, token: this.#place.token });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#send(this.#takeSome());
    this.#sending = null;
  }

  #takeSome(): Waiting[] {
    let events = 0;
    const beyond = this.#waiting.findIndex(({ drafts }, index) => {
      events += drafts.length;
      return index > 0 && events > MESSAGE_EVENTS;
    });
    return this.#waiting.splice(0, beyond < 0 ? this.#waiting.length : beyond);
  }

  async #send(group: Waiting[]): Promise<void> {
    const { session, token, lastSeq, lastHash } = this.#place;
    const { rows, sealed } = sealDrafts(
      group.flatMap(({ drafts }) => drafts),
      { seq: lastSeq, hash: lastHash },
      this.#newId,
    );
    try {
      await this.#client.call('append', { session, token, prev: lastHash, sealed });
    } catch (error) {
      if (error instanceof AppError && error.code === 'stale_writer') this.#ended ??= error;
      for (const { reject } of group) reject(error);
      return;
    }
    this.#place.lastSeq = lastSeq + rows.length;
    this.#place.lastHash = rows.at(-1)?.hash ?? lastHash;
    this.#appended();
    let from = 0;
    for (const { drafts, resolve } of group) {
      resolve(rows.slice(from, from + drafts.length));
      from += drafts.length;
    }
  }
}
