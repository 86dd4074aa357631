import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { EngineEndpoint } from './endpoint.ts';
import { EngineAgent } from './engine-agent.ts';
import { request as sendRequest } from './node-http.ts';

export type CallOptions = {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** A value is sent as JSON. */
  body?: unknown;
  /** A tar, sent as it comes. */
  tar?: AsyncIterable<Uint8Array> | Uint8Array;
  headers?: Readonly<Record<string, string>>;
  /** Statuses of 400 and above that are answers here. */
  accept?: readonly number[];
  signal?: AbortSignal;
  /** Null for answers that may take as long as they like. */
  timeLimitMs?: number | null;
};

export type Reply = { status: number; headers: IncomingHttpHeaders; text: string };

/** The engine understood and said no. */
export class EngineRefusal extends AppError {
  readonly status: number;

  constructor(status: number, message: string) {
    super('sandbox_unavailable', message, { details: { status } });
    this.status = status;
  }
}

/**
 * Speaks the Engine API on kept connections. Errors: sandbox_unavailable = never reached; EngineRefusal = refused; sandbox_lost = the
 * connection ended before the answer did.
 */
export class EngineClient {
  readonly endpoint: EngineEndpoint;
  #agent: Agent;
  #prefix: Promise<string> | null = null;

  constructor(endpoint: EngineEndpoint, environment: Readonly<Record<string, string | undefined>>) {
    this.endpoint = endpoint;
    this.#agent = new EngineAgent(endpoint, environment);
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    const response = await this.stream(method, path, { timeLimitMs: CALL_LIMIT_MS, ...options });
    return { status: response.statusCode ?? 0, headers: response.headers, text: await this.#textOf(response) };
  }

  async read<T>(schema: z.ZodType<T>, method: string, path: string, options: CallOptions = {}): Promise<T> {
    const { text } = await this.call(method, path, options);
    return parseReply(schema, text, `${method} ${path}`);
  }

  /** The answer's body as it comes; whoever asks reads or destroys it. */
  async stream(method: string, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
    const answer = await this.#send(method, await this.#path(path, options), options);
    if (answer.kind === 'upgraded') throw new AppError('sandbox_lost', `${method} ${path}: the engine changed protocols unasked`);
    const status = answer.response.statusCode ?? 0;
    if (status >= 400 && !options.accept?.includes(status)) {
      throw new EngineRefusal(
        status,
        `the engine at ${this.endpoint.shown} refused ${method} ${path}: ${await this.#complaintOf(answer.response)}`,
      );
    }
    return answer.response;
  }

  /** A raw connection in both directions. `before` are bytes that came with the answer. */
  async upgrade(path: string, options: CallOptions = {}): Promise<{ socket: Duplex; before: Buffer }> {
    const headers = { ...options.headers, connection: 'Upgrade', upgrade: 'tcp' };
    const answer = await this.#send('POST', await this.#path(path, options), { timeLimitMs: CALL_LIMIT_MS, ...options, headers });
    if (answer.kind === 'upgraded') return answer;
    const status = answer.response.statusCode ?? 0;
    throw new EngineRefusal(
      status,
      `the engine at ${this.endpoint.shown} refused POST ${path}: ${await this.#complaintOf(answer.response)}`,
    );
  }

  /** Throws where the engine cannot be reached or is too old. */
  async ping(): Promise<void> {
    this.#prefix = null;
    await this.#negotiated();
  }

  close(): void {
    this.#agent.destroy();
  }

  #negotiated(): Promise<string> {
    this.#prefix ??= this.#negotiate().catch((error: unknown) => {
      this.#prefix = null;
      throw error;
    });
    return this.#prefix;
  }

  async #negotiate(): Promise<string> {
    const answer = await this.#send('GET', '/_ping', { timeLimitMs: 15_000 });
    if (answer.kind === 'upgraded') throw new AppError('sandbox_unavailable', `${this.endpoint.shown} is no Docker engine`);
    const text = await this.#textOf(answer.response);
    const theirs = Number(/^1\.(\d+)$/.exec(String(answer.response.headers['api-version'] ?? ''))?.[1] ?? Number.NaN);
    if (answer.response.statusCode !== 200 || Number.isNaN(theirs)) {
      throw new AppError(
        'sandbox_unavailable',
        `expected a Docker engine at ${this.endpoint.shown}, found an answer ${answer.response.statusCode}: ${text.slice(0, 200)}`,
      );
    }
    if (theirs < OLDEST_MINOR) {
      throw new AppError(
        'sandbox_unavailable',
        `expected Engine API 1.${OLDEST_MINOR} or later at ${this.endpoint.shown}, found 1.${theirs}: upgrade Docker`,
      );
    }
    return `/v1.${Math.min(theirs, NEWEST_MINOR)}`;
  }

  async #path(path: string, options: CallOptions): Promise<string> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(options.query ?? {})) if (value !== undefined) query.set(name, String(value));
    return `${await this.#negotiated()}${path}${query.size === 0 ? '' : `?${query}`}`;
  }

  async #send(method: string, path: string, options: CallOptions): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#sendOnce(method, path, options);
      } catch (error) {
        // A kept connection may have been closed at the other end just now; only what changes nothing is asked again.
        if (!(error instanceof StaleConnection) || !['GET', 'HEAD'].includes(method) || attempt > 3) {
          throw error instanceof StaleConnection ? error.cause : error;
        }
      }
    }
  }

  #sendOnce(method: string, path: string, options: CallOptions): Promise<Answer> {
    const payload = options.body === undefined ? null : Buffer.from(JSON.stringify(options.body));
    const tar = options.tar;
    const headers: Record<string, string | number> = { host: 'docker', ...options.headers };
    if (payload !== null) Object.assign(headers, { 'content-type': 'application/json', 'content-length': payload.length });
    if (tar !== undefined) headers['content-type'] = 'application/x-tar';
    if (tar instanceof Uint8Array) headers['content-length'] = tar.length;
    const upgrading = headers.upgrade !== undefined;
    return new Promise<Answer>((resolve, reject) => {
      let connected = false;
      let answered = false;
      let sourceFailure: unknown;
      const request = sendRequest({ method, path, headers, agent: this.#agent, signal: options.signal });
      const limit = options.timeLimitMs ?? null;
      const timer = limit === null ? null : setTimeout(() => request.destroy(new Error(`no answer within ${limit} ms`)), limit);
      request.on('socket', (socket: Socket) => {
        connected = !socket.connecting;
        if (socket.connecting)
          socket.once('connect', () => {
            connected = true;
          });
      });
      request.on('error', (error) => {
        if (timer !== null) clearTimeout(timer);
        if (options.signal?.aborted === true) return reject(options.signal.reason);
        if (sourceFailure !== undefined) return reject(sourceFailure);
        const failure = this.#failure(error, connected, `${method} ${path}`);
        reject(request.reusedSocket && connected ? new StaleConnection(failure) : failure);
      });
      request.on('response', (response) => {
        if (timer !== null) clearTimeout(timer);
        answered = true;
        resolve({ kind: 'answered', response });
      });
      request.on('upgrade', (_response, socket, before) => {
        if (timer !== null) clearTimeout(timer);
        resolve({ kind: 'upgraded', socket, before });
      });
      if (upgrading || tar === undefined || tar instanceof Uint8Array) {
        request.end(payload ?? (tar instanceof Uint8Array ? tar : undefined));
      } else {
        // An engine that refuses answers before it has read everything: its answer is the truth, not what becomes of the rest.
        send(tar, request).catch((error: unknown) => {
          sourceFailure = error;
          if (!answered) request.destroy(error instanceof Error ? error : new Error(messageOf(error)));
        });
      }
    });
  }

  #failure(error: Error & { code?: string }, connected: boolean, what: string): AppError {
    const { shown } = this.endpoint;
    if (connected && !UNREACHED.has(error.code ?? '')) {
      return new AppError('sandbox_lost', `the connection to the engine at ${shown} ended during ${what}: ${error.message}`, {
        cause: error,
      });
    }
    return new AppError('sandbox_unavailable', `docker not reachable at ${shown}: ${error.message}`, {
      cause: error,
      details: { reason: error.code ?? null },
    });
  }

  async #textOf(response: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of response) chunks.push(chunk);
    } catch (error) {
      throw new AppError(
        'sandbox_lost',
        `the connection to the engine at ${this.endpoint.shown} ended in mid-answer: ${messageOf(error)}`,
        { cause: error },
      );
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  async #complaintOf(response: IncomingMessage): Promise<string> {
    const text = await this.#textOf(response);
    try {
      return ComplaintSchema.parse(JSON.parse(text)).message;
    } catch {
      return text.trim() || `status ${response.statusCode}`;
    }
  }
}

export function parseReply<T>(schema: z.ZodType<T>, text: string, what: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new AppError('sandbox_unavailable', `the engine answered ${what} in an unknown shape: ${messageOf(error)}`, { cause: error });
  }
}

/** Rejects for the source's sake alone: what becomes of the request is told by its own events. */
async function send(source: AsyncIterable<Uint8Array>, request: ClientRequest): Promise<void> {
  for await (const chunk of source) {
    if (request.destroyed) return;
    if (request.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      request.once('drain', resolve);
      request.once('close', resolve);
    });
  }
  if (!request.destroyed) request.end();
}

type Answer = { kind: 'answered'; response: IncomingMessage } | { kind: 'upgraded'; socket: Duplex; before: Buffer };

class StaleConnection extends Error {
  constructor(cause: AppError) {
    super(cause.message, { cause });
  }
}

/** Long, for a commit or a start on a busy disk; without it a hung engine would hold a trial for ever. */
const CALL_LIMIT_MS = 180_000;
/** 1.41 = Docker 20.10. */
const OLDEST_MINOR = 41;
const NEWEST_MINOR = 48;
const UNREACHED = new Set(['ECONNREFUSED', 'ENOENT', 'EACCES', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);

const ComplaintSchema = z.looseObject({ message: z.string() });
