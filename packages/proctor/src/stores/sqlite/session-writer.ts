import { AppError } from '../../domain/errors.ts';
import type { EventDraft, EventRow } from '../../domain/events.ts';
import type { SessionWriter } from '../../store.ts';
import { type CheckedDraft, checkDraft, isAllEndings, joinSealed, type SealedBatch, sealDrafts } from './drafts.ts';
import type { WriterPlace } from './requests.ts';
import type { WorkerClient } from './worker-client.ts';

type Waiting = { drafts: CheckedDraft[]; batch: SealedBatch; resolve: (rows: EventRow[]) => void; reject: (error: unknown) => void };

/** Events that go to the worker in one message; more wait for its answer. */
const MESSAGE_EVENTS = 1000;
/** Events of one part of a large append, which is written while the next part is checked and sealed. */
const PART_EVENTS = 32;

/**
 * The one writer of a Session. Appends that come while one is on its way go together with the next, in order. They are sealed when they come, as if
 * what is on its way will be written; where it was not, they are sealed again.
 */
export class SqliteSessionWriter implements SessionWriter {
  readonly sessionId: string;
  readonly #client: WorkerClient;
  readonly #newId: () => string;
  readonly #appended: () => void;
  readonly #place: WriterPlace;
  /** The last event that was sealed; `#place` has the last that was written. */
  #sealed: { seq: number; hash: string };
  #waiting: Waiting[] = [];
  #sending: Promise<void> | null = null;
  #ended: AppError | null = null;

  constructor(sessionId: string, place: WriterPlace, parts: { client: WorkerClient; newId: () => string; appended: () => void }) {
    this.sessionId = sessionId;
    this.#place = { ...place };
    this.#sealed = { seq: place.lastSeq, hash: place.lastHash };
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
    if (this.#sending === null && drafts.length > PART_EVENTS && !isAllEndings(drafts)) {
      const streamed = this.#stream(drafts);
      this.#sending = streamed.then(nothing, nothing).then(() => this.#sendAll());
      return streamed;
    }
    const checked = drafts.map(checkDraft);
    const batch = this.#seal(checked);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ drafts: checked, batch, resolve, reject });
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

  /** One append in one transaction, with nothing else on its way. Where a later draft turns out to be wrong, none is written. */
  async #stream(drafts: readonly EventDraft[]): Promise<EventRow[]> {
    const { session, token } = this.#place;
    const rows: EventRow[] = [];
    let append: ReturnType<WorkerClient['appendInParts']> | null = null;
    try {
      for (let from = 0; from < drafts.length; from += PART_EVENTS) {
        const part = this.#seal(drafts.slice(from, from + PART_EVENTS).map(checkDraft));
        for (const row of part.rows) rows.push(row);
        if (append !== null) append.post(part.sealed);
        else append = this.#client.appendInParts({ session, token, sealed: part.sealed }, Math.ceil(drafts.length / PART_EVENTS) - 1);
      }
    } catch (error) {
      this.#sealed = { seq: this.#place.lastSeq, hash: this.#place.lastHash };
      append?.post(null);
      await append?.written.catch(nothing);
      throw error;
    }
    try {
      await append?.written;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
    this.#succeeded(rows.at(-1));
    return rows;
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

  #seal(drafts: readonly CheckedDraft[]): SealedBatch {
    const batch = sealDrafts(drafts, this.#sealed, this.#newId);
    const last = batch.rows.at(-1);
    if (last !== undefined) this.#sealed = { seq: last.seq, hash: last.hash };
    return batch;
  }

  async #send(group: Waiting[]): Promise<void> {
    const { session, token } = this.#place;
    const sealed = joinSealed(group.map(({ batch }) => batch.sealed));
    try {
      await this.#client.call('append', { session, token, sealed });
    } catch (error) {
      this.#failed(error);
      for (const { reject } of group) reject(error);
      return;
    }
    this.#succeeded(group.at(-1)?.batch.rows.at(-1));
    for (const { batch, resolve } of group) resolve(batch.rows);
  }

  #succeeded(last: EventRow | undefined): void {
    this.#place.lastSeq = last?.seq ?? this.#place.lastSeq;
    this.#place.lastHash = last?.hash ?? this.#place.lastHash;
    this.#appended();
  }

  #failed(error: unknown): void {
    if (error instanceof AppError && error.code === 'stale_writer') this.#ended ??= error;
    this.#sealed = { seq: this.#place.lastSeq, hash: this.#place.lastHash };
    for (const later of this.#waiting) later.batch = this.#seal(later.drafts);
  }
}

const nothing = (): void => undefined;
