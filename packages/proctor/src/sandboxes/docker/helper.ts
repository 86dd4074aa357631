import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { AppError } from '../../domain/errors.ts';
import type { PreparedImage, SandboxLabels } from '../../sandbox.ts';
import { createContainer, removeContainer } from './container.ts';
import type { EngineClient } from './engine.ts';
import { toEngineLabels } from './labels.ts';
import { demultiplexer } from './multiplex.ts';

/**
 * A container of the original image in the sandbox's pid namespace, started with the first question and kept for the next. Its shell and `cat`
 * are the image's own, which the sandbox cannot have changed, and it may not be traced from there; it can be killed from there, so a question
 * that is not answered is asked once more of a new one. The parts of an answer are told apart by a word that came on its stdin: no process can
 * write into them.
 */
export class Helper implements AsyncDisposable {
  #engine: EngineClient;
  #containerId: string;
  #image: PreparedImage;
  #labels: SandboxLabels;
  #shell: Promise<Shell> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: EngineClient, containerId: string, image: PreparedImage, labels: SandboxLabels) {
    this.#engine = engine;
    this.#containerId = containerId;
    this.#image = image;
    this.#labels = labels;
  }

  /** Runs a script of sh; `part(name)` is the command that begins the answer's part of that name. Rejects unless it ran to its end. */
  async ask(script: (part: (name: string) => string) => string): Promise<Map<string, string>> {
    const answer = this.#last.then(async () => (await this.#askOnce(script)) ?? (await this.#askOnce(script)));
    this.#last = answer.catch(() => undefined);
    const parts = await answer;
    if (parts !== null) return parts;
    throw new AppError(
      'sandbox_lost',
      `processes of container ${this.#containerId.slice(0, 12)} cannot be looked at: a helper of its image gave no answer (it needs sh and cat)`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const shell = await this.#shell?.catch(() => null);
    this.#shell = null;
    if (shell == null) return;
    await removeContainer(this.#engine, shell.id);
    shell.socket.destroy();
  }

  async #askOnce(script: (part: (name: string) => string) => string): Promise<Map<string, string> | null> {
    const word = randomUUID();
    const part = (name: string) => `printf '\\n%s %s\\n' ${word} "${name}"`;
    this.#shell ??= this.#start();
    const shell = await this.#shell.catch((error: unknown) => {
      this.#shell = null;
      throw error;
    });
    const output = await shell.run(`${script(part)}\n${part('end')}\n`, `\n${word} end\n`);
    if (output === null) {
      await this[Symbol.asyncDispose]();
      return null;
    }
    return new Map(
      output
        .split(`\n${word} `)
        .slice(1)
        .map((piece) => [piece.slice(0, piece.indexOf('\n')), piece.slice(piece.indexOf('\n') + 1)]),
    );
  }

  async #start(): Promise<Shell> {
    const id = await createContainer(this.#engine, {
      Image: this.#image.id,
      Entrypoint: ['sh'],
      Cmd: [],
      User: '0',
      WorkingDir: '/',
      Labels: toEngineLabels(this.#labels),
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      AttachStdout: true,
      Healthcheck: { Test: ['NONE'] },
      HostConfig: {
        AutoRemove: true,
        NetworkMode: 'none',
        LogConfig: { Type: 'none' },
        PidMode: `container:${this.#containerId}`,
        // Another user's descriptors and environment are read by this right alone.
        CapAdd: ['SYS_PTRACE'],
      },
    });
    try {
      const { socket, before } = await this.#engine.upgrade(`/containers/${id}/attach`, { query: { stream: 1, stdin: 1, stdout: 1 } });
      const shell = new Shell(id, socket, before);
      await this.#engine.call('POST', `/containers/${id}/start`);
      return shell;
    } catch (error) {
      await removeContainer(this.#engine, id);
      throw error;
    }
  }
}

/** One question at a time on a shell's stdin, its answer on stdout. */
class Shell {
  readonly id: string;
  readonly socket: Duplex;
  #output = '';
  #ended = false;
  #changed: () => void = () => undefined;

  constructor(id: string, socket: Duplex, before: Buffer) {
    this.id = id;
    this.socket = socket;
    const decoder = new StringDecoder('utf8');
    const take = demultiplexer(
      (chunk) => {
        this.#output += decoder.write(Buffer.from(chunk));
        this.#changed();
      },
      () => undefined,
    );
    const end = () => {
      this.#ended = true;
      this.#changed();
    };
    socket.on('error', end).on('close', end).on('end', end);
    if (before.length > 0) take(before);
    socket.on('data', take);
  }

  /** Null = no answer: it was killed, stopped, or is no shell. */
  async run(script: string, last: string): Promise<string | null> {
    const deadline = Date.now() + ANSWER_LIMIT_MS;
    this.#output = '';
    this.socket.write(script);
    while (!this.#output.includes(last)) {
      if (this.#ended || Date.now() > deadline) return null;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#changed = resolve;
      const timer = setTimeout(resolve, deadline - Date.now() + 1);
      if (!this.#ended && !this.#output.includes(last)) await promise;
      clearTimeout(timer);
    }
    return this.#output;
  }
}

const ANSWER_LIMIT_MS = 20_000;
