import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '../../domain/errors.ts';
import { blobFile, blobFolder, INLINE_BYTES, TEMPORARY } from './blob-places.ts';
import { sha256 } from './drafts.ts';
import { asAppError } from './faults.ts';
import type { WorkerClient } from './worker-client.ts';

const READ_BYTES = 262_144;
/** Hashed in one go: a large piece must not stop the event loop. */
const WRITE_BYTES = 1_048_576;

/** Content by digest: small ones in the database, in its commits; large ones as files, written here so that the worker never waits for them. */
export class Blobs {
  readonly #client: WorkerClient;
  readonly #home: string;

  constructor(client: WorkerClient, home: string) {
    this.#client = client;
    this.#home = home;
  }

  async put(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sha256: string; bytes: number }> {
    const pieces = content instanceof Uint8Array ? [content] : content;
    const first: Uint8Array[] = [];
    let bytes = 0;
    let file: TemporaryBlob | null = null;
    try {
      for await (const piece of pieces) {
        bytes += piece.length;
        if (file === null && bytes > INLINE_BYTES) {
          file = await TemporaryBlob.create(this.#home);
          for (const earlier of first) await file.write(earlier);
        }
        if (file === null) first.push(piece.slice());
        else await file.write(piece);
      }
      return file === null ? await this.#putInline(first) : await this.#putFile(file, bytes);
    } catch (error) {
      await file?.discard();
      throw isOfDisk(error) ? asAppError(error, blobFolder(this.#home)) : error;
    }
  }

  async get(digest: string): Promise<AsyncIterable<Uint8Array> | null> {
    if (!/^[0-9a-f]{64}$/.test(digest)) return null;
    const row = await this.#client.call('blob', digest);
    if (row !== null && row.content !== null) return once(row.content);
    const file = blobFile(this.#home, digest);
    const found = await stat(file).catch(() => null);
    if (found === null) return null;
    if (row !== null && row.bytes !== found.size) {
      throw new AppError('corrupt', `expected ${row.bytes} bytes in ${file}, found ${found.size}: its disk or another program damaged it`);
    }
    return readFile(file);
  }

  async #putInline(pieces: Uint8Array[]): Promise<{ sha256: string; bytes: number }> {
    const content = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
    const digest = sha256(content);
    await this.#client.call('putBlob', digest, content.length, Date.now(), content);
    return { sha256: digest, bytes: content.length };
  }

  /** The row first: a collector in another process spares what was put just now, so it cannot take the file that appears next. */
  async #putFile(file: TemporaryBlob, bytes: number): Promise<{ sha256: string; bytes: number }> {
    const digest = await file.finish();
    await this.#client.call('putBlob', digest, bytes, Date.now(), null);
    await file.becomes(blobFile(this.#home, digest));
    return { sha256: digest, bytes };
  }
}

/** A file beside its final place, hashed as it is written. */
class TemporaryBlob {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');

  constructor(file: string, handle: FileHandle) {
    this.#file = file;
    this.#handle = handle;
  }

  static async create(home: string): Promise<TemporaryBlob> {
    const folder = blobFolder(home);
    if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(home);
    const file = path.join(folder, TEMPORARY + randomUUID());
    return new TemporaryBlob(file, await open(file, 'wx', 0o600));
  }

  async write(piece: Uint8Array): Promise<void> {
    for (let from = 0; from < piece.length; from += WRITE_BYTES) {
      const part = piece.subarray(from, from + WRITE_BYTES);
      this.#hash.update(part);
      for (let written = 0; written < part.length; ) written += (await this.#handle.write(part, written)).bytesWritten;
    }
  }

  async finish(): Promise<string> {
    await this.#handle.sync();
    await this.#handle.close();
    return this.#hash.digest('hex');
  }

  async becomes(file: string): Promise<void> {
    await rename(this.#file, file);
    await syncFolder(path.dirname(file));
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(this.#file, { force: true }).catch(() => undefined);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

async function* readFile(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file, 'r');
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Of the file system, not of whoever gives the content. */
function isOfDisk(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'code' in error && error.code !== 'ECONNRESET';
}
