import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';

/**
 * Space kept in a file and given back when the disk is full, so that the failure itself can be recorded. From then on only writes that say how
 * something ended are taken, until there is room to keep the reserve again.
 */
export class Reserve {
  readonly #file: string;
  readonly #folder: string;
  readonly #bytes: number;
  #isFull = false;

  constructor(home: string, bytes: number) {
    this.#folder = home;
    this.#file = path.join(home, 'reserve');
    this.#bytes = bytes;
  }

  /** Makes the file where there is room for it. A disk that has none is found full by the write that needs it. */
  keep(): void {
    if (statSync(this.#file, { throwIfNoEntry: false })?.size === this.#bytes || !this.#hasRoom()) return;
    try {
      this.#write();
    } catch {
      rmSync(this.#file, { force: true });
    }
  }

  release(): void {
    this.#isFull = true;
    rmSync(this.#file, { force: true });
  }

  admits(isEnding: boolean): boolean {
    if (this.#isFull && this.#hasRoom()) {
      this.keep();
      this.#isFull = false;
    }
    return !this.#isFull || isEnding;
  }

  #hasRoom(): boolean {
    const { bavail, bsize } = statfsSync(this.#folder);
    return bavail * bsize >= 2 * this.#bytes;
  }

  /** Random bytes: zeros would take no room where a file system compresses. */
  #write(): void {
    const block = randomFillSync(Buffer.allocUnsafe(Math.min(this.#bytes, 1_048_576)));
    const handle = openSync(this.#file, 'w', 0o600);
    try {
      for (let left = this.#bytes; left > 0; left -= block.length) writeSync(handle, block, 0, Math.min(left, block.length));
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  }
}
