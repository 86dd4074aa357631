import path from 'node:path';
import { z } from 'zod';
import { AppError, messageOf } from '../../domain/errors.ts';
import { type EngineClient, EngineRefusal } from './engine.ts';

/** The archive calls of one container: the engine's own hands, none of the container's programs. */
export class ContainerFiles {
  #engine: EngineClient;
  #containerId: string;

  constructor(engine: EngineClient, containerId: string) {
    this.#engine = engine;
    this.#containerId = containerId;
  }

  async upload(tar: AsyncIterable<Uint8Array> | Uint8Array, directory: string): Promise<void> {
    try {
      await this.#engine.call('PUT', this.#archive, { query: { path: directory }, tar, timeLimitMs: null });
    } catch (error) {
      if (error instanceof EngineRefusal) await this.#assertContainer();
      throw isMount(error) ? mountRefusal(error) : error;
    }
  }

  async download(target: string): Promise<AsyncIterable<Uint8Array> | null> {
    const response = await this.#engine
      .stream('GET', this.#archive, { query: { path: target }, accept: [404] })
      .catch(async (error: unknown) => {
        // One that is going away refuses with other words than one that is gone.
        if (error instanceof EngineRefusal) await this.#assertContainer();
        throw error;
      });
    if (response.statusCode !== 404) return this.#body(response, target);
    response.resume();
    await this.#assertContainer();
    return null;
  }

  /** What `target` is; a link is told with where it leads in the end. Null = no such path. */
  async stat(target: string): Promise<PathStat | null> {
    const reply = await this.#engine.call('HEAD', this.#archive, { query: { path: target }, accept: [404, 500] });
    if (reply.status === 404 || (reply.status === 500 && (await this.#isEndlessLink(target)))) {
      await this.#assertContainer();
      return null;
    }
    if (reply.status === 500) throw new AppError('sandbox_lost', `the engine could not look at ${target} in the container`);
    const header = reply.headers['x-docker-container-path-stat'];
    return PathStatSchema.parse(JSON.parse(Buffer.from(String(header ?? ''), 'base64').toString('utf8')));
  }

  /** Component by component, for the engine tells only of the last one whether it is a link. */
  async realPath(target: string): Promise<string | null> {
    let real = '/';
    let rest = path.posix
      .normalize(target)
      .split('/')
      .filter((part) => part !== '');
    for (let links = 0; links < LINKS_AT_MOST; ) {
      const next = rest.shift();
      if (next === undefined) return real;
      const here = path.posix.join(real, next);
      const stat = await this.stat(here);
      if (stat === null) return null;
      if (stat.linkTarget === '') {
        real = here;
      } else {
        links += 1;
        rest = [...stat.linkTarget.split('/').filter((part) => part !== ''), ...rest];
        real = '/';
      }
    }
    return null;
  }

  get #archive(): string {
    return `/containers/${this.#containerId}/archive`;
  }

  /** HEAD fails without a word where a link leads back to itself; GET says so. */
  async #isEndlessLink(target: string): Promise<boolean> {
    const reply = await this.#engine.call('GET', this.#archive, { query: { path: target }, accept: [500] });
    return reply.status === 500 && reply.text.includes('too many links');
  }

  /** A missing container, or one that is ending, answers 404 like a missing path. */
  async #assertContainer(): Promise<void> {
    const reply = await this.#engine.call('GET', `/containers/${this.#containerId}/json`, { accept: [404] });
    if (reply.status === 404) throw new AppError('sandbox_lost', 'the container is gone');
    const { Status: status } = StateSchema.parse(JSON.parse(reply.text)).State;
    if (!HELD_STATES.has(status)) throw new AppError('sandbox_lost', `the container is ${status}`);
  }

  async *#body(response: AsyncIterable<Buffer>, target: string): AsyncIterable<Uint8Array> {
    try {
      yield* response;
    } catch (error) {
      throw new AppError('sandbox_lost', `the connection to the engine ended while ${target} was read: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}

/** What is replaced is a mount; an unprivileged container has those of its image alone. */
function isMount(error: unknown): boolean {
  return error instanceof EngineRefusal && error.message.includes('device or resource busy');
}

function mountRefusal(cause: unknown): AppError {
  return new AppError(
    'image_unavailable',
    `the image declares a VOLUME in the place of a directory that has to be made new: leave it out (${messageOf(cause)})`,
    { cause, details: { attribution: 'task' } },
  );
}

const HELD_STATES = new Set(['created', 'running', 'paused']);
const StateSchema = z.looseObject({ State: z.looseObject({ Status: z.string() }) });
const LINKS_AT_MOST = 40;

const PathStatSchema = z.looseObject({ name: z.string(), size: z.number(), mode: z.number(), linkTarget: z.string() });
type PathStat = z.infer<typeof PathStatSchema>;
