import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { LaterPart, PartsEnd, SealedEvents } from './requests.ts';

/** Whoever streams posts all parts in one go: this long without one means that it never will. */
const PATIENCE_MS = 10_000;

/** Parts of large appends, which come while the parts before them are written. Read inside a transaction, so without the event loop. */
export class PartsInbox {
  readonly #port: MessagePort;
  readonly #posted: Int32Array;
  readonly #early = new Map<number, (SealedEvents | null)[]>();

  constructor({ port, posted }: PartsEnd) {
    this.#port = port;
    this.#posted = new Int32Array(posted);
  }

  /** The next part of that call; null = its sender gave up. */
  next(call: number): SealedEvents | null {
    const early = this.#early.get(call)?.shift();
    if (early !== undefined) return early;
    for (;;) {
      const part = this.#receive();
      if (part.call === call) return part.sealed;
      this.#early.set(part.call, [...(this.#early.get(part.call) ?? []), part.sealed]);
    }
  }

  forget(call: number): void {
    this.#early.delete(call);
  }

  #receive(): LaterPart {
    for (;;) {
      const seen = Atomics.load(this.#posted, 0);
      const received: { message: LaterPart } | undefined = receiveMessageOnPort(this.#port);
      if (received !== undefined) return received.message;
      if (Atomics.wait(this.#posted, 0, seen, PATIENCE_MS) === 'timed-out') throw new Error('the rest of an append did not come');
    }
  }
}

/** What follows the first part of one append, as often as it is asked for: a transaction may be tried again. */
export class LaterParts implements Iterable<SealedEvents | null> {
  readonly #inbox: PartsInbox;
  readonly #call: number;
  #count: number;
  readonly #received: (SealedEvents | null)[] = [];

  constructor(inbox: PartsInbox, call: number, count: number) {
    this.#inbox = inbox;
    this.#call = call;
    this.#count = count;
  }

  *[Symbol.iterator](): Generator<SealedEvents | null> {
    for (let index = 0; index < this.#count; index += 1) {
      const known = this.#received[index];
      if (known !== undefined) yield known;
      else {
        const part = this.#inbox.next(this.#call);
        this.#received.push(part);
        // Nothing follows.
        if (part === null) this.#count = index + 1;
        yield part;
      }
    }
  }

  /** Takes what nobody asked for. */
  drain(): void {
    try {
      for (const part of this) if (part === null) break;
    } catch {
      // Whoever streams has ended.
    }
    this.#inbox.forget(this.#call);
  }
}
