import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { EngineClient } from './engine.ts';
import { OWNER_LABEL } from './labels.ts';

export type Death = { exitCode: number | null; outOfMemory: boolean };

/**
 * The engine's own word on what ended, over one connection for every sandbox of this process: it saves a question per exec, and comes before
 * the exec's stream closes. It is a shortcut only: whoever hears nothing asks the engine.
 */
export class EngineEvents {
  #engine: EngineClient;
  #connection: Promise<IncomingMessage> | null = null;
  #exits = new Map<string, (code: number) => void>();
  #deaths = new Map<string, Death>();

  constructor(engine: EngineClient) {
    this.#engine = engine;
  }

  /** Resolves when events are being heard. */
  async listen(owner: string): Promise<void> {
    this.#connection ??= this.#connect(owner).catch((error: unknown) => {
      this.#connection = null;
      throw error;
    });
    await this.#connection;
  }

  exitOf(execId: string): { code: Promise<number>; forget(): void } {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#exits.set(execId, resolve);
    return { code: promise, forget: () => this.#exits.delete(execId) };
  }

  watch(containerId: string): { death(): Death; forget(): void } {
    const death: Death = { exitCode: null, outOfMemory: false };
    this.#deaths.set(containerId, death);
    return { death: () => death, forget: () => this.#deaths.delete(containerId) };
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => null);
    connection?.destroy();
  }

  async #connect(owner: string): Promise<IncomingMessage> {
    const filters = { type: ['container'], label: [`${OWNER_LABEL}=${owner}`], event: ['exec_die', 'die', 'oom'] };
    const stream = await this.#engine.stream('GET', '/events', { query: { filters: JSON.stringify(filters) } });
    // Hearing events is no reason for a process to stay.
    stream.socket.unref();
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') this.#take(line);
    });
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.#connection = null;
    });
    return stream;
  }

  #take(line: string): void {
    const event = parsed(line);
    if (event === null) return;
    const attributes = event.Actor.Attributes;
    const code = attributes.exitCode === undefined ? null : Number(attributes.exitCode);
    if (event.Action === 'exec_die') {
      if (code !== null) this.#exits.get(attributes.execID ?? '')?.(code);
      return;
    }
    const death = this.#deaths.get(event.Actor.ID);
    if (death === undefined) return;
    if (event.Action === 'oom') death.outOfMemory = true;
    if (event.Action === 'die') death.exitCode = code;
  }
}

/** A line that says nothing we know is passed over: whoever waits for it asks the engine. */
function parsed(line: string): z.infer<typeof EventSchema> | null {
  try {
    return EventSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

const EventSchema = z.looseObject({
  Action: z.string(),
  Actor: z.looseObject({ ID: z.string(), Attributes: z.record(z.string(), z.string()) }),
});
