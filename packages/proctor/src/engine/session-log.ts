import type { z } from 'zod';
import type { EVENT_DATA, EventDraft, EventRow, EventType } from '../domain/events.ts';
import { emptyProjection, type Projection, project } from '../domain/session.ts';
import type { SessionWriter } from '../store.ts';
import type { Clock } from './parts.ts';

/**
 * One Session's log as its only writer sees it. `write` puts an event in line and goes on; `append` also waits until it is durable. After a
 * failed write nothing more is written and every later call rejects with that first cause.
 */
export class SessionLog {
  #writer: SessionWriter;
  #clock: Clock;
  #projection: Projection;
  #failure: unknown = null;
  #break: (cause: unknown) => void = () => {};
  /** Resolves with the first cause when a write failed: whoever follows this log would wait for ever. */
  readonly broken: Promise<unknown>;
  #tail: Promise<EventRow[]> = Promise.resolve([]);
  #waiting: EventDraft[] = [];

  constructor(writer: SessionWriter, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
    this.#projection = emptyProjection(writer.sessionId);
    this.broken = new Promise((resolve) => {
      this.#break = resolve;
    });
  }

  /** The fold of what this writer has made durable. */
  get projection(): Projection {
    return this.#projection;
  }

  draft<T extends EventType>(type: T, data: z.input<(typeof EVENT_DATA)[T]>, by: { author: string; runId?: string | null }): EventDraft {
    const draft = { type, at: this.#clock.now().toISOString(), author: by.author, data, ...(by.runId == null ? {} : { run_id: by.runId }) };
    return draft as EventDraft;
  }

  /** In line behind everything written before; resolves when it is durable. */
  append(drafts: EventDraft[]): Promise<EventRow[]> {
    const before = this.#waiting;
    this.#waiting = [];
    const written = this.#append([...before, ...drafts]).then((rows) => rows.slice(before.length));
    this.#tail = written;
    return written;
  }

  /** For events whose durability nobody waits for now: what is written in one go, or right before an `append`, is one transaction. */
  write(drafts: EventDraft[]): void {
    if (this.#waiting.length === 0) {
      setImmediate(() => {
        if (this.#waiting.length > 0) this.append([]).catch(() => {});
      });
    }
    this.#waiting.push(...drafts);
  }

  async release(): Promise<void> {
    if (this.#waiting.length > 0) await this.append([]).catch(() => []);
    await this.#tail.catch(() => []);
    await this.#writer.release();
  }

  async #append(drafts: EventDraft[]): Promise<EventRow[]> {
    if (this.#failure !== null) throw this.#failure;
    try {
      const rows = await this.#writer.append(drafts);
      for (const row of rows) this.#projection = project(this.#projection, row);
      return rows;
    } catch (error) {
      this.#failure ??= error;
      this.#break(this.#failure);
      throw this.#failure;
    }
  }

  /** After a failed write: one more try for the events that end the log, past the failure. */
  async lastWords(drafts: EventDraft[]): Promise<void> {
    await this.#tail.catch(() => []);
    await this.#writer.append(drafts);
  }
}
