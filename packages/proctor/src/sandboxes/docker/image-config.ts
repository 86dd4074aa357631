import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { PreparedImage } from '../../sandbox.ts';
import { type EngineClient, EngineRefusal } from './engine.ts';

type EngineImage = z.infer<typeof ImageSchema>;

/** Null = this engine has no such image. Errors: image_unavailable, attribution task, where no engine could read the reference. */
export async function inspectImage(engine: EngineClient, reference: string): Promise<EngineImage | null> {
  const named = encodeURI(reference).replace(/[?#]/g, encodeURIComponent);
  try {
    const reply = await engine.call('GET', `/images/${named}/json`, { accept: [404] });
    return reply.status === 404 ? null : ImageSchema.parse(JSON.parse(reply.text));
  } catch (cause) {
    if (!(cause instanceof EngineRefusal && cause.status === 400)) throw cause;
    throw new AppError('image_unavailable', `${JSON.stringify(reference)} is no image reference: ${cause.message}`, {
      cause,
      details: { attribution: 'task' },
    });
  }
}

export function toPrepared(
  image: EngineImage,
  how: { reference: string | null; built: boolean; durationMs: number; log: string },
): PreparedImage {
  const repository = how.reference === null ? null : repositoryOf(how.reference);
  const digests = image.RepoDigests ?? [];
  const digest =
    digests.find((one) => repository !== null && one.split('@')[0] === repository) ?? (repository === null ? null : (digests[0] ?? null));
  return {
    id: image.Id,
    digest,
    platform: [image.Os, image.Architecture, image.Variant].filter((part) => part !== undefined && part !== '').join('/') || null,
    built: how.built,
    workdir: image.Config?.WorkingDir || null,
    env: Object.fromEntries((image.Config?.Env ?? []).map((entry) => [entry.split('=', 1)[0] ?? '', entry.slice(entry.indexOf('=') + 1)])),
    user: image.Config?.User || null,
    entrypoint: image.Config?.Entrypoint ?? [],
    durationMs: how.durationMs,
    log: how.log,
  };
}

/** `registry:5000/a/b:tag@sha256:…` → `registry:5000/a/b`. */
export function repositoryOf(reference: string): string {
  return reference.replace(/@.*$/, '').replace(/:[^/:]+$/, '');
}

const ImageSchema = z.looseObject({
  Id: z.string(),
  RepoDigests: z.array(z.string()).nullish(),
  Os: z.string().optional(),
  Architecture: z.string().optional(),
  Variant: z.string().optional(),
  Config: z
    .looseObject({
      WorkingDir: z.string().nullish(),
      Env: z.array(z.string()).nullish(),
      User: z.string().nullish(),
      Entrypoint: z.array(z.string()).nullish(),
      Labels: z.record(z.string(), z.string()).nullish(),
    })
    .nullish(),
});
