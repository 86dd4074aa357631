import { z } from 'zod';
import { AppError, messageOf } from '../../domain/errors.ts';
import { registryCredentials, registryOf } from './credentials.ts';
import type { EngineClient } from './engine.ts';
import { parseJsonLines } from './json-lines.ts';

export type PullOptions = {
  environment: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  onLog: (line: string) => void;
};

/** Errors: image_unavailable, attribution infrastructure. */
export async function pullImage(engine: EngineClient, reference: string, options: PullOptions): Promise<void> {
  const fail = (reason: string, cause?: unknown): AppError =>
    new AppError('image_unavailable', `image ${reference} is not on this engine and cannot be pulled: ${reason}`, {
      cause,
      details: { attribution: 'infrastructure' },
    });
  try {
    const credentials = await registryCredentials(options.environment, registryOf(reference));
    const response = await engine.stream('POST', '/images/create', {
      query: { fromImage: withTag(reference) },
      headers: credentials === null ? {} : { 'x-registry-auth': credentials },
      signal: options.signal,
    });
    for await (const line of parseJsonLines(response, ProgressSchema)) {
      if (line.error !== undefined) throw fail(line.error);
      // Bars of bytes are for eyes; steps are for the log.
      if (line.status !== undefined && line.progressDetail?.current === undefined)
        options.onLog(line.id === undefined ? line.status : `${line.id}: ${line.status}`);
    }
  } catch (error) {
    options.signal.throwIfAborted();
    throw error instanceof AppError && error.code === 'image_unavailable' ? error : fail(messageOf(error), error);
  }
}

/** Without a tag the engine would pull every tag of the repository. */
function withTag(reference: string): string {
  return /@|:[^/]+$/.test(reference) ? reference : `${reference}:latest`;
}

const ProgressSchema = z.looseObject({
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.looseObject({ current: z.number().optional() }).nullish(),
});
