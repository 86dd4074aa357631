import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecOptions, Exit } from '../../sandbox.ts';

/**
 * What the caller hears. An engine that cannot start a program says so in its place on stdout, ended as no program ends a line: a first chunk
 * that may be that is held until the engine tells that the program has started.
 */
export class ExecOutput {
  #options: ExecOptions;
  #hasStarted: () => Promise<boolean>;
  #held: Buffer | null = null;
  #heard = false;
  #closed = false;

  constructor(options: ExecOptions, hasStarted: () => Promise<boolean>) {
    this.#options = options;
    this.#hasStarted = hasStarted;
  }

  stdout(chunk: Uint8Array): void {
    if (this.#closed) return;
    const bytes = Buffer.from(chunk);
    if (!this.#heard && bytes.subarray(-2).equals(LINE_END)) {
      this.#held = bytes;
      void this.#releaseOnceStarted();
    } else {
      this.#release();
      this.#options.stdout?.(bytes);
    }
    this.#heard = true;
  }

  stderr(chunk: Uint8Array): void {
    if (this.#closed) return;
    this.#heard = true;
    this.#release();
    this.#options.stderr?.(Buffer.from(chunk));
  }

  /**
   * When the engine tells of an end it has closed the streams, after waiting two seconds at most for others who hold them open; what is on the
   * way arrives, however busy this host is. After our own kill nothing more is worth waiting for.
   */
  async settle(exit: Exit, streamEnded: Promise<void>): Promise<Exit> {
    const limitMs = exit.kind === 'timed_out' || exit.kind === 'aborted' ? DRAIN_AFTER_KILL_MS : DRAIN_MS;
    const limit = new AbortController();
    await Promise.race([streamEnded, sleep(limitMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
    limit.abort();
    if (exit.kind !== 'not_started') {
      this.#release();
      return exit;
    }
    const reason = this.#held?.toString('utf8').trim() ?? '';
    return { kind: 'not_started', reason: reason === '' ? 'the engine could not start it and gave no reason' : reason };
  }

  close(): void {
    this.#closed = true;
  }

  async #releaseOnceStarted(): Promise<void> {
    while (this.#held !== null && !this.#closed) {
      await sleep(HOLD_MS);
      // An engine that cannot be asked ends the exec, and with it the waiting.
      if (this.#held !== null && (await this.#hasStarted().catch(() => false))) this.#release();
    }
  }

  #release(): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null && !this.#closed) this.#options.stdout?.(held);
  }
}

const LINE_END = Buffer.from('\r\n');
const HOLD_MS = 30;
const DRAIN_MS = 10_000;
const DRAIN_AFTER_KILL_MS = 250;
