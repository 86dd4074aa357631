/** Keeps the head and the tail of a stream within a bound, and counts what passed. */
export class OutputKeeper {
  #head: Uint8Array[] = [];
  #tail: Uint8Array[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #half: number;
  total = 0;

  constructor(maxBytes: number) {
    this.#half = Math.floor(maxBytes / 2);
  }

  readonly push = (chunk: Uint8Array): void => {
    this.total += chunk.length;
    let rest = chunk;
    if (this.#headBytes < this.#half) {
      const part = rest.subarray(0, this.#half - this.#headBytes);
      this.#head.push(part.slice());
      this.#headBytes += part.length;
      rest = rest.subarray(part.length);
    }
    if (rest.length === 0) return;
    const kept = rest.length > this.#half ? rest.subarray(rest.length - this.#half) : rest;
    this.#tail.push(kept.slice());
    this.#tailBytes += kept.length;
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= this.#half) this.#tailBytes -= this.#tail.shift()?.length ?? 0;
  };

  get cut(): boolean {
    return this.total > this.#headBytes + this.#tailBytes || this.#tailBytes > this.#half;
  }

  /** The kept bytes; where something was left out, a line says how much. */
  bytes(): Uint8Array {
    const tail = Buffer.concat(this.#tail);
    const last = tail.length > this.#half ? tail.subarray(tail.length - this.#half) : tail;
    const dropped = this.total - this.#headBytes - last.length;
    const mark = dropped > 0 ? [Buffer.from(`\n[… ${dropped} bytes left out …]\n`)] : [];
    return Buffer.concat([...this.#head, ...mark, last]);
  }
}
