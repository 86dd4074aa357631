import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf } from '../domain/errors.ts';
import type { FileTree } from '../domain/task.ts';

/** Reads files of a compiled tree and refuses bytes that are no longer the compiled ones. Keeps small trees in memory, since every trial sends them. */
export class TreeContent {
  #kept = new Map<string, Map<string, Uint8Array>>();
  #keptBytes = 0;
  #maxKeptBytes: number;

  constructor(maxKeptBytes = 64 * 1024 * 1024) {
    this.#maxKeptBytes = maxKeptBytes;
  }

  of(tree: FileTree): (path: string) => Uint8Array {
    const key = `${tree.root}\0${tree.digest}`;
    const known = this.#kept.get(key);
    const files = known ?? new Map(tree.files.map((file) => [file.path, readChecked(tree.root, file)]));
    if (known === undefined && this.#keptBytes + tree.bytes <= this.#maxKeptBytes) {
      this.#kept.set(key, files);
      this.#keptBytes += tree.bytes;
    }
    return (path) => {
      const bytes = files.get(path);
      if (bytes === undefined) throw new AppError('internal', `expected ${path} in the tree at ${tree.root}, found none`);
      return bytes;
    };
  }
}

function readChecked(root: string, file: FileTree['files'][number]): Uint8Array {
  const path = join(root, file.path);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new AppError(
      'sandbox_lost',
      `expected the compiled file ${path}, could not read it: ${messageOf(error)}. Run the command again`,
      { cause: error },
    );
  }
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== file.sha256) {
    throw new AppError(
      'sandbox_lost',
      `${path} changed after it was compiled (expected sha256 ${file.sha256.slice(0, 12)}, found ${found.slice(0, 12)}). Run the command again`,
    );
  }
  return bytes;
}
