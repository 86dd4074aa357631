import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { AppError, ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';
import type {
  AppendRequest,
  Failure,
  FromWorker,
  LaterPart,
  Opened,
  Opening,
  PartsEnd,
  Requests,
  SealedEvents,
  ToWorker,
} from './requests.ts';

type Pending = { resolve: (value: never) => void; reject: (error: AppError) => void };

/** This side of the store's thread. It keeps the process alive only while something is asked of it or held. */
export class WorkerClient {
  readonly opened: Promise<Opened>;
  readonly #worker: Worker;
  readonly #home: string;
  readonly #pending = new Map<number, Pending>();
  readonly #onChange: () => void;
  readonly #parts: MessagePort;
  readonly #posted = new Int32Array(new SharedArrayBuffer(4));
  readonly #end = Promise.withResolvers<void>();
  #lastCall = 0;
  #holds = 0;
  #ended: AppError | null = null;

  constructor(opening: Opening, onChange: () => void) {
    this.#home = opening.home;
    this.#onChange = onChange;
    const opened = Promise.withResolvers<Opened>();
    this.opened = opened.promise;
    const { port1, port2 } = new MessageChannel();
    this.#parts = port1;
    this.#parts.unref();
    const parts: PartsEnd = { port: port2, posted: this.#posted.buffer };
    this.#worker = new Worker(new URL('../sqlite-worker.ts', import.meta.url), {
      workerData: { ...opening, parts },
      transferList: [port2],
      execArgv: [],
      stdin: false,
    });
    this.#worker.on('message', (message: FromWorker) => {
      if ('opened' in message) opened.resolve(message.opened);
      else if ('refused' in message) opened.reject(this.#stop(appError(message.refused)));
      else this.#receive(message);
    });
    this.#worker.on('error', (cause) => opened.reject(this.#stop(this.#broken(cause))));
    this.#worker.on('exit', () => opened.reject(this.#stop(this.#broken(null))));
  }

  call<K extends keyof Requests>(name: K, ...args: Parameters<Requests[K]>): Promise<ReturnType<Requests[K]>> {
    return this.#ask((call) => ({ call, name, args }));
  }

  /**
   * An append whose rest comes with `post`, all before this thread does anything else: the worker writes each part while the next one is made, and
   * waits for it inside the transaction. `post(null)` gives all of it up.
   */
  appendInParts(first: AppendRequest, later: number): { written: Promise<null>; post(part: SealedEvents | null): void } {
    const written: Promise<null> = this.#ask((call) => ({ call, name: 'append', args: [first], later }));
    const call = this.#lastCall;
    return {
      written,
      post: (sealed) => {
        const part: LaterPart = { call, sealed };
        this.#parts.postMessage(part);
        Atomics.add(this.#posted, 0, 1);
        Atomics.notify(this.#posted, 0);
      },
    };
  }

  /** Keeps the process alive until `release`, for who waits for something that no call will answer. */
  hold(): void {
    this.#holds += 1;
    if (this.#holds === 1) this.#worker.ref();
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#worker.unref();
  }

  /** After `opened`: from here on an idle worker keeps nobody alive. */
  rest(): void {
    if (this.#holds === 0) this.#worker.unref();
  }

  /** Everything that was asked is answered first. */
  async close(): Promise<void> {
    if (this.#ended === null) {
      this.#worker.ref();
      this.#post({ close: true });
    }
    await this.#end.promise;
  }

  #ask<T>(message: (call: number) => ToWorker): Promise<T> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    this.#lastCall += 1;
    const call = this.#lastCall;
    this.hold();
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
      this.#post(message(call));
    });
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #receive(message: Exclude<FromWorker, { opened: Opened } | { refused: Failure }>): void {
    if ('changed' in message) this.#onChange();
    else if ('closed' in message) this.#stop(new AppError('store_unavailable', `the store ${this.#home} is closed: open it again`));
    else {
      for (const answer of message.answers) {
        const pending = this.#pending.get(answer.call);
        this.#pending.delete(answer.call);
        this.release();
        if ('failure' in answer) pending?.reject(appError(answer.failure));
        else pending?.resolve(answer.value as never);
      }
    }
  }

  /** The first end counts. */
  #stop(error: AppError): AppError {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
    this.#parts.close();
    this.#onChange();
    this.#end.resolve();
    return this.#ended;
  }

  #broken(cause: Error | null): AppError {
    const detail = cause === null ? 'its thread ended' : cause.message;
    return new AppError('store_unavailable', `the store ${this.#home} stopped working (${detail}): run the same command again`, { cause });
  }
}

function appError({ code, message, details }: Failure): AppError {
  return new AppError(isCode(code) ? code : 'internal', message, { details });
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
