import { randomFillSync } from 'node:crypto';

const ALPHABET = Buffer.from('abcdefghijklmnopqrstuvwxyz234567', 'latin1');
const LENGTH = 16;
const AT_ONCE = 256;

/** Makes ids of a prefix and 16 random base32 characters. Randomness is drawn for many at once. */
export class RandomIds {
  #drawn = '';
  #used = 0;

  next(prefix: string): string {
    if (this.#used === this.#drawn.length) this.#draw();
    const from = this.#used;
    this.#used += LENGTH;
    return `${prefix}_${this.#drawn.slice(from, this.#used)}`;
  }

  #draw(): void {
    const bytes = randomFillSync(Buffer.allocUnsafe(LENGTH * AT_ONCE));
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = ALPHABET[(bytes[index] ?? 0) & 31] ?? 0;
    this.#drawn = bytes.toString('latin1');
    this.#used = 0;
  }
}
