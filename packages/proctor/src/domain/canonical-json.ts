/** A hash function handed in by the edge: bytes or text in, lower-case hex out. */
export type Hash = (content: string | Uint8Array) => string;

/** RFC 8785 text of a JSON value: keys sorted by UTF-16 code unit, shortest numbers, lone surrogates replaced. Throws on NaN, Infinity and non-JSON values. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`expected a finite number, found ${value}`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => (item === undefined ? 'null' : canonicalJson(item))).join(',')}]`;
  if (typeof value === 'object') {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    entries.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key.toWellFormed())}:${canonicalJson(item)}`).join(',')}}`;
  }
  throw new TypeError(`expected a JSON value, found ${typeof value}`);
}
