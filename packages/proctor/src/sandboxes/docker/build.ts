import { createHash } from 'node:crypto';
import { AppError } from '../../domain/errors.ts';
import type { FileTree, ImageIntent } from '../../domain/task.ts';
import type { PreparedImage, PrepareOptions } from '../../sandbox.ts';
import { buildByEngine } from './build-classic.ts';
import { buildByProgram, hasBuildKit } from './build-program.ts';
import type { BuildFailure } from './buildkit-progress.ts';
import { type BuildProxies, buildProxies } from './configured-proxies.ts';
import type { EngineClient } from './engine.ts';
import { lockOnHost } from './host-lock.ts';
import { inspectImage, toPrepared } from './image-config.ts';
import { toEngineLabels } from './labels.ts';

export type BuildIntent = Extract<ImageIntent, { kind: 'build' }>;

export type BuildRequest = {
  context: FileTree;
  dockerfile: string;
  tag: string;
  labels: Record<string, string>;
  environment: Readonly<Record<string, string | undefined>>;
  programEnvironment: Readonly<Record<string, string>>;
  /** Build arguments that every Dockerfile has without declaring them; they change neither its meaning nor its cache. */
  proxies: BuildProxies;
  /** Fires with the error to throw. */
  signal: AbortSignal;
  onLog: (line: string) => void;
  failure(failed: BuildFailure): AppError;
};

/** By content, and by nothing of the store: every trial and process of this host that brings the same context finds the same image. */
export function buildTag(intent: BuildIntent): string {
  const digest = createHash('sha256').update(`${intent.context.digest}\0${intent.dockerfile}`).digest('hex');
  return `localhost/proctor-ctx:${digest.slice(0, 16)}`;
}

/** Builds unless another process has meanwhile. Errors: image_build_failed. */
export async function buildImage(
  engine: EngineClient,
  environment: Readonly<Record<string, string | undefined>>,
  intent: BuildIntent,
  options: PrepareOptions,
): Promise<PreparedImage> {
  const startedAt = Date.now();
  const tag = buildTag(intent);
  const log = new BuildLog(options.onLog);
  const give = (image: NonNullable<Awaited<ReturnType<typeof inspectImage>>>, built: boolean): PreparedImage =>
    toPrepared(image, { reference: null, built, durationMs: Date.now() - startedAt, log: log.text });
  await using _ = await lockOnHost(`build-${tag.slice(-16)}`, options.signal);
  const found = await inspectImage(engine, tag);
  if (found !== null) return give(found, false);
  const failure = (failed: BuildFailure, more: Record<string, unknown> = {}): AppError =>
    new AppError('image_build_failed', `building ${intent.context.root}/${intent.dockerfile} failed: ${failed.reason}`, {
      details: { attribution: failed.attribution, log: log.tail, ...more },
    });
  const limit = new AbortController();
  const timer = setTimeout(
    () =>
      limit.abort(
        failure({ attribution: 'task', reason: `it was not done within its limit of ${options.timeLimitMs} ms` }, { timed_out: true }),
      ),
    options.timeLimitMs,
  );
  const request: BuildRequest = {
    context: intent.context,
    dockerfile: intent.dockerfile,
    tag,
    labels: toEngineLabels(options.labels),
    environment,
    programEnvironment: engine.endpoint.programEnvironment,
    proxies: buildProxies(environment, engine.endpoint.host),
    signal: options.signal === undefined ? limit.signal : AbortSignal.any([limit.signal, options.signal]),
    onLog: (line) => log.add(line),
    failure,
  };
  try {
    if (await hasBuildKit(environment)) await buildByProgram(request);
    else await buildByEngine(engine, request);
  } finally {
    clearTimeout(timer);
  }
  const image = await inspectImage(engine, tag);
  if (image === null)
    throw failure({
      attribution: 'infrastructure',
      reason: `the build ended well and left no image ${tag} on the engine at ${engine.endpoint.shown}`,
    });
  return give(image, true);
}

/** Every line to who listens; head and tail for who reads later. */
class BuildLog {
  #onLog: PrepareOptions['onLog'];
  #head: string[] = [];
  #tail: string[] = [];
  #cut = 0;

  constructor(onLog: PrepareOptions['onLog']) {
    this.#onLog = onLog;
  }

  add(line: string): void {
    this.#onLog?.(line);
    if (this.#head.length < LINES_KEPT) this.#head.push(line);
    else if (this.#tail.push(line) > LINES_KEPT) {
      this.#tail.shift();
      this.#cut += 1;
    }
  }

  get text(): string {
    return [...this.#head, ...(this.#cut > 0 ? [`… ${this.#cut} lines …`] : []), ...this.#tail].join('\n');
  }

  get tail(): string {
    return [...this.#head, ...this.#tail].slice(-TAIL_LINES).join('\n');
  }
}

const LINES_KEPT = 1000;
const TAIL_LINES = 60;
