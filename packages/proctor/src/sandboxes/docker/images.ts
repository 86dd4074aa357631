import { AppError } from '../../domain/errors.ts';
import type { ImageIntent } from '../../domain/task.ts';
import type { PreparedImage, PrepareOptions } from '../../sandbox.ts';
import type { EngineClient } from './engine.ts';
import { inspectImage, toPrepared } from './image-config.ts';

export class Images {
  #engine: EngineClient;

  constructor(engine: EngineClient, _environment: Readonly<Record<string, string | undefined>>) {
    this.#engine = engine;
  }

  async prepare(image: ImageIntent, _options: PrepareOptions): Promise<PreparedImage> {
    const startedAt = Date.now();
    if (image.kind === 'reference') {
      const found = await inspectImage(this.#engine, image.reference);
      if (found !== null)
        return toPrepared(found, { reference: image.reference, built: false, durationMs: Date.now() - startedAt, log: '' });
    }
    throw new AppError('image_unavailable', 'not yet');
  }
}
