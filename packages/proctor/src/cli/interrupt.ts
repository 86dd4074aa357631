import type { Terminal } from './terminal.ts';

/** Fires at the first Ctrl-C (or SIGTERM, SIGHUP), to stop cleanly. A second one leaves at once: the janitor removes the rest. */
export class Interrupt implements Disposable {
  readonly #controller = new AbortController();
  readonly #before: () => void;
  readonly #terminal: Terminal;
  readonly #says: string;
  readonly #listener = () => this.#take();

  constructor(terminal: Terminal, options: { says: string; beforeExit: () => void }) {
    this.#terminal = terminal;
    this.#says = options.says;
    this.#before = options.beforeExit;
    for (const signal of SIGNALS) process.on(signal, this.#listener);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#listener);
  }

  #take(): void {
    this.#before();
    if (this.#controller.signal.aborted) {
      this.#terminal.err('Leaving the rest to the janitor.\n');
      process.exit(130);
    }
    this.#terminal.err(`${this.#says} Press Ctrl-C again to leave the rest to the janitor.\n`);
    this.#controller.abort();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
