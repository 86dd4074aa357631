import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A file that must be text holds at most this much. */
export const MAX_TEXT_BYTES = 1024 * 1024;

/** Without O_NONBLOCK a FIFO would be waited for; O_NOFOLLOW refuses a link that took the file's place. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CHUNK_BYTES = 1024 * 1024;

export type SmallFile = { kind: 'file'; bytes: Buffer; mode: number } | { kind: 'large'; stats: Stats } | { kind: 'no_file'; stats: Stats };

/** A whole file of at most MAX_TEXT_BYTES; one that grows while it is read is cut at the size it had. Throws what the system says. */
export function readSmall(host: string): SmallFile {
  const handle = openSync(host, FLAGS);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) return { kind: 'no_file', stats };
    if (stats.size > MAX_TEXT_BYTES) return { kind: 'large', stats };
    const bytes = Buffer.allocUnsafe(stats.size);
    let filled = 0;
    while (filled < bytes.length) {
      const read = readSync(handle, bytes, filled, bytes.length - filled, null);
      if (read === 0) break;
      filled += read;
    }
    return { kind: 'file', bytes: filled === bytes.length ? bytes : bytes.subarray(0, filled), mode: stats.mode & 0o7777 };
  } finally {
    closeSync(handle);
  }
}

/** Streams a file of any size; other work gets a turn after each chunk. */
export async function hashLarge(host: string): Promise<{ bytes: number; sha256: string; mode: number }> {
  const handle = openSync(host, FLAGS);
  try {
    const digest = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let bytes = 0;
    for (let read = readSync(handle, chunk); read > 0; read = readSync(handle, chunk)) {
      digest.update(chunk.subarray(0, read));
      bytes += read;
      await nextTurn();
    }
    return { bytes, sha256: digest.digest('hex'), mode: fstatSync(handle).mode & 0o7777 };
  } finally {
    closeSync(handle);
  }
}
