import { AppError } from '../../domain/errors.ts';
import type { ImageIntent } from '../../domain/task.ts';
import type { PreparedImage, PrepareOptions } from '../../sandbox.ts';
import { type BuildIntent, buildImage, buildTag } from './build.ts';
import type { EngineClient } from './engine.ts';
import { inspectImage, toPrepared } from './image-config.ts';
import { pullImage } from './pull.ts';

/** Images made ready once, however many trials wait for them. */
export class Images {
  #engine: EngineClient;
  #environment: Readonly<Record<string, string | undefined>>;
  #waiting = new Map<string, Promise<PreparedImage>>();
  /** What a Dockerfile did wrong it will do again: every later trial of this process gets the same answer. */
  #failed = new Map<string, AppError>();

  constructor(engine: EngineClient, environment: Readonly<Record<string, string | undefined>>) {
    this.#engine = engine;
    this.#environment = environment;
  }

  async prepare(image: ImageIntent, options: PrepareOptions): Promise<PreparedImage> {
    const startedAt = Date.now();
    const name = image.kind === 'reference' ? image.reference : buildTag(image);
    const found = await inspectImage(this.#engine, name);
    if (found !== null) {
      return toPrepared(found, {
        reference: image.kind === 'reference' ? name : null,
        built: false,
        durationMs: Date.now() - startedAt,
        log: '',
      });
    }
    const failed = this.#failed.get(name);
    if (failed !== undefined) throw failed;
    const running = this.#waiting.get(name);
    if (running !== undefined) return await this.#follow(running, image, options);
    const work = image.kind === 'reference' ? this.#pull(image.reference, options) : this.#build(image, options);
    this.#waiting.set(name, work);
    try {
      return await work;
    } catch (error) {
      if (error instanceof AppError && error.code === 'image_build_failed' && error.details.attribution === 'task')
        this.#failed.set(name, error);
      throw error;
    } finally {
      this.#waiting.delete(name);
    }
  }

  /** The first who asked may give up; that is no answer for the others. */
  async #follow(running: Promise<PreparedImage>, image: ImageIntent, options: PrepareOptions): Promise<PreparedImage> {
    try {
      const prepared = await abortable(running, options.signal);
      return { ...prepared, built: false };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof AppError) throw error;
      return await this.prepare(image, options);
    }
  }

  async #pull(reference: string, options: PrepareOptions): Promise<PreparedImage> {
    const startedAt = Date.now();
    const log: string[] = [];
    const limit = new AbortController();
    const late = new AppError('image_unavailable', `image ${reference} was not pulled within its limit of ${options.timeLimitMs} ms`, {
      details: { attribution: 'infrastructure', timed_out: true },
    });
    const timer = setTimeout(() => limit.abort(late), options.timeLimitMs);
    try {
      await pullImage(this.#engine, reference, {
        environment: this.#environment,
        signal: options.signal === undefined ? limit.signal : AbortSignal.any([limit.signal, options.signal]),
        onLog: (line) => {
          log.push(line);
          options.onLog?.(line);
        },
      });
    } finally {
      clearTimeout(timer);
    }
    const image = await inspectImage(this.#engine, reference);
    if (image === null)
      throw new AppError('image_unavailable', `image ${reference} was pulled and is not there`, {
        details: { attribution: 'infrastructure' },
      });
    return toPrepared(image, { reference, built: false, durationMs: Date.now() - startedAt, log: log.join('\n') });
  }

  async #build(intent: BuildIntent, options: PrepareOptions): Promise<PreparedImage> {
    if (options.noBuild) {
      throw new AppError(
        'image_required',
        `${intent.context.root} has to be built, and building is off: allow it, or name an image with --image`,
      );
    }
    return await buildImage(this.#engine, this.#environment, intent, options);
  }
}

async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
