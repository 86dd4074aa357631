import type { EventRow } from '../../domain/events.ts';
import type { WorkerClient } from './worker-client.ts';

const PAGE_EVENTS = 500;

/** Who waits for new rows of a Session, and how they are woken: by this process's own appends at once, by another's commits soon. */
export class Followers {
  readonly #waiting = new Map<string, Set<() => void>>();
  #following = 0;
  /** Counts wake-ups, so that one between a read and the wait is not lost. */
  #changes = 0;

  wake(sessionId: string): void {
    this.#changes += 1;
    for (const wake of this.#waiting.get(sessionId) ?? []) wake();
  }

  wakeAll(): void {
    this.#changes += 1;
    for (const waiting of this.#waiting.values()) for (const wake of waiting) wake();
  }

  async *follow(
    client: WorkerClient,
    sessionId: string,
    { after, signal }: { after: number; signal: AbortSignal },
  ): AsyncGenerator<EventRow> {
    let seq = after;
    this.#following += 1;
    client.hold();
    try {
      if (this.#following === 1) await client.call('watch', true);
      while (!signal.aborted) {
        const changes = this.#changes;
        const page = await client.call('events', sessionId, { after: seq, types: null, limit: PAGE_EVENTS });
        for (const row of page.rows) {
          if (signal.aborted) return;
          seq = row.seq;
          yield row;
        }
        if (page.ended) return;
        if (!page.more && changes === this.#changes) await this.#next(sessionId, signal);
      }
    } finally {
      this.#following -= 1;
      client.release();
      // A closed store has nothing left to watch.
      if (this.#following === 0) client.call('watch', false).catch(() => undefined);
    }
  }

  #next(sessionId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(sessionId) ?? new Set();
      this.#waiting.set(sessionId, waiting);
      const wake = (): void => {
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(sessionId);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }
}
