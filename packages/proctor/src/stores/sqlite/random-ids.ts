import { randomFillSync } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const LENGTH = 16;

/** Makes ids of a prefix and 16 random base32 characters. Randomness is drawn for many at once. */
export class RandomIds {
  readonly #pool = Buffer.allocUnsafe(LENGTH * 256);
  #used = this.#pool.length;

  next(prefix: string): string {
    if (this.#used === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    let id = `${prefix}_`;
    for (const end = this.#used + LENGTH; this.#used < end; this.#used += 1) id += ALPHABET[(this.#pool[this.#used] ?? 0) & 31];
    return id;
  }
}
