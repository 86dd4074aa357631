import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../domain/errors.ts';
import type { PreparedImage, SandboxLabels } from '../../sandbox.ts';
import { createContainer, removeContainer } from './container.ts';
import type { EngineClient } from './engine.ts';
import { toEngineLabels } from './labels.ts';
import { demultiplexer } from './multiplex.ts';

/**
 * A container of the original image in the sandbox's pid namespace, for one question at a time. Its shell and `cat` are the image's own, which
 * the sandbox cannot have changed. The parts of its answer are told apart by a word that came on its stdin: no process can write into them.
 */
export class Helper {
  #engine: EngineClient;
  #containerId: string;
  #image: PreparedImage;
  #labels: SandboxLabels;

  constructor(engine: EngineClient, containerId: string, image: PreparedImage, labels: SandboxLabels) {
    this.#engine = engine;
    this.#containerId = containerId;
    this.#image = image;
    this.#labels = labels;
  }

  /** Runs a script of sh; `part(name)` is the command that begins the answer's part of that name. Rejects unless it ran to its end. */
  async ask(script: (part: (name: string) => string) => string): Promise<Map<string, string>> {
    const word = randomUUID();
    const part = (name: string) => `printf '\\n%s %s\\n' ${word} "${name}"`;
    const output = await this.#run(`${script(part)}\n${part('end')}\n`);
    const parts = new Map<string, string>();
    for (const piece of output.split(`\n${word} `).slice(1)) {
      const head = piece.slice(0, piece.indexOf('\n'));
      parts.set(head, piece.slice(head.length + 1));
    }
    if (!parts.has('end')) {
      throw new AppError(
        'sandbox_lost',
        `processes of container ${this.#containerId.slice(0, 12)} cannot be looked at: its image has no working sh for a helper`,
      );
    }
    return parts;
  }

  async #run(script: string): Promise<string> {
    const id = await createContainer(this.#engine, {
      Image: this.#image.id,
      Entrypoint: ['sh'],
      Cmd: [],
      User: '0',
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
      const chunks: Uint8Array[] = [];
      const take = demultiplexer(
        (chunk) => chunks.push(chunk),
        () => undefined,
      );
      const ended = new Promise<void>((resolve) => {
        socket.on('error', () => resolve());
        socket.on('close', () => resolve());
        socket.on('end', () => resolve());
      });
      if (before.length > 0) take(before);
      socket.on('data', take);
      await this.#engine.call('POST', `/containers/${id}/start`);
      socket.end(script);
      await Promise.race([ended, sleep(ANSWER_LIMIT_MS, undefined, { ref: false })]);
      socket.destroy();
      return Buffer.concat(chunks).toString('utf8');
    } finally {
      await removeContainer(this.#engine, id);
    }
  }
}

const ANSWER_LIMIT_MS = 20_000;
