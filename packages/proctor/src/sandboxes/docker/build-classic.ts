import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../domain/errors.ts';
import type { BuildRequest } from './build.ts';
import { packContext } from './build-context.ts';
import { type EngineClient, EngineRefusal } from './engine.ts';
import { inspectImage } from './image-config.ts';
import { parseJsonLines } from './json-lines.ts';
import { pullImage } from './pull.ts';

/**
 * The engine's own builder, where there is no docker program. It does not say who failed, so base images are pulled before: what fails then
 * is a step of the Dockerfile.
 */
export async function buildByEngine(engine: EngineClient, request: BuildRequest): Promise<void> {
  const dockerfile = readFileSync(path.join(request.context.root, request.dockerfile), 'utf8');
  for (const base of baseImages(dockerfile)) {
    if ((await inspectImage(engine, base)) === null) await pullImage(engine, base, request);
  }
  let failed: string | null = null;
  try {
    const response = await engine.stream('POST', '/build', {
      query: {
        t: request.tag,
        dockerfile: request.dockerfile,
        labels: JSON.stringify(request.labels),
        buildargs: JSON.stringify({ ...request.proxies.ofHost, ...request.proxies.configured }),
        rm: 1,
        forcerm: 1,
      },
      tar: packContext(request.context, request.dockerfile),
      signal: request.signal,
    });
    for await (const line of parseJsonLines(response, LineSchema)) {
      for (const text of (line.stream ?? '').split('\n')) if (text.trim() !== '') request.onLog(text);
      if (line.error !== undefined) failed = line.error;
    }
  } catch (error) {
    request.signal.throwIfAborted();
    // Refused before any step: a Dockerfile that makes no sense.
    throw request.failure({
      attribution: error instanceof EngineRefusal && error.status === 400 ? 'task' : 'infrastructure',
      reason: messageOf(error),
    });
  }
  if (failed !== null) {
    request.onLog(failed);
    throw request.failure({ attribution: 'task', reason: failed });
  }
}

/** The images a Dockerfile begins from, as far as its own text tells: earlier stages and `scratch` are none, ARG defaults are filled in. */
export function baseImages(dockerfile: string): string[] {
  const defaults = new Map<string, string>();
  const stages = new Set(['scratch']);
  const found = new Set<string>();
  for (const line of dockerfile.replace(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const [, name, value] = /^\s*ARG\s+(\w+)=("[^"]*"|\S+)/i.exec(line) ?? [];
    if (name !== undefined && value !== undefined && stages.size === 1) defaults.set(name, value.replace(/^"|"$/g, ''));
    const [, reference, stage] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line) ?? [];
    if (reference === undefined) continue;
    const image = reference.replace(
      /\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))/g,
      (whole, braced, fallback, plain) => defaults.get(braced ?? plain) ?? fallback ?? whole,
    );
    if (!stages.has(image.toLowerCase()) && !image.includes('$')) found.add(image);
    if (stage !== undefined) stages.add(stage.toLowerCase());
  }
  return [...found];
}

const LineSchema = z.looseObject({ stream: z.string().optional(), error: z.string().optional() });
