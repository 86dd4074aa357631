import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../domain/errors.ts';
import type { PreparedImage, SandboxSpec } from '../../sandbox.ts';
import type { EngineClient } from './engine.ts';
import { inspectImage } from './image-config.ts';
import { demultiplexer } from './multiplex.ts';

/** What the image starts by itself, in front of any command; empty = nothing. */
export async function entrypointOf(engine: EngineClient, image: PreparedImage): Promise<readonly string[]> {
  return image.entrypoint ?? (await inspectImage(engine, image.id))?.Config?.Entrypoint ?? [];
}

/**
 * Starts the entrypoint as the image would: its user, its directory, the Session's variables. Those are arguments of `env` and not of the
 * container, since a commit would keep the container's. The command behind it says `word` once the entrypoint has handed over.
 */
export function entrypointRequest(entrypoint: readonly string[], image: PreparedImage, spec: SandboxSpec, word: string) {
  const variables = Object.entries(spec.env).map(([name, value]) => `${name}=${value}`);
  return {
    Entrypoint: [...(variables.length === 0 ? [] : ['env', '--', ...variables]), ...entrypoint],
    Cmd: ['sh', '-c', `echo ${word}; exec cat`],
    User: image.user ?? '0',
    WorkingDir: image.workdir ?? '/',
    AttachStdout: true,
    AttachStderr: true,
  };
}

/** Listens from before the start, so that nothing said is missed. */
export class Handover {
  #said = '';
  #happened = false;
  #wake: () => void = () => undefined;
  readonly #word: string;
  readonly #closed: Promise<'closed'>;

  constructor(attached: Duplex, word: string) {
    this.#word = word;
    const take = (chunk: Uint8Array) => this.#take(Buffer.from(chunk).toString('utf8'));
    attached.on('data', demultiplexer(take, take));
    this.#closed = new Promise((resolve) => attached.once('close', () => resolve('closed')));
  }

  /**
   * Returns when the entrypoint has handed over, or has not for a while: a server that takes no command never does, and runs all the same.
   * Errors: image_unavailable where it ended instead.
   */
  async wait(entrypoint: readonly string[]): Promise<void> {
    const heard = new Promise<'heard'>((resolve) => {
      this.#wake = () => resolve('heard');
      if (this.#happened) resolve('heard');
    });
    const limit = new AbortController();
    const first = await Promise.race([
      heard,
      this.#closed,
      sleep(WAIT_MS, 'late' as const, { signal: limit.signal }).catch(() => 'late' as const),
    ]);
    limit.abort();
    const said = this.#said;
    this.#said = '';
    this.#happened = true;
    if (first !== 'closed') return;
    throw endedEntrypoint(entrypoint, said === '' ? 'it said nothing' : `it said: ${said.trim().slice(-500)}`);
  }

  #take(text: string): void {
    if (this.#happened) return;
    this.#said = `${this.#said}${text}`.slice(-4096);
    // On a line of its own: a program that complains about its arguments says the word, too.
    if (!this.#said.split(/\r?\n/).slice(0, -1).includes(this.#word)) return;
    this.#happened = true;
    this.#wake();
  }
}

export function endedEntrypoint(entrypoint: readonly string[], reason: string, cause?: unknown): AppError {
  return new AppError(
    'image_unavailable',
    `the ENTRYPOINT ${JSON.stringify(entrypoint)} of the image was to run the command that it is given, and ended (${reason}): end it with exec "$@", or leave it out`,
    { cause, details: { attribution: 'task' } },
  );
}

const WAIT_MS = 5000;
