export const REDACTED = '[REDACTED]';

/** A stream being redacted: what `push` holds back comes out of a later call. Chunks may be cut anywhere, inside a character too. */
export interface RedactedStream {
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

export interface Redaction {
  /** False: there is nothing to look for. */
  readonly active: boolean;
  text(text: string): string;
  bytes(content: Uint8Array): Uint8Array;
  /** Every string of a JSON value, keys included. */
  json<T>(value: T): T;
  stream(): RedactedStream;
}

/**
 * Finds secrets by their values and puts `[REDACTED]` in their place: as they are, and as JSON, URL encoding, base64 (at any offset), hex or a
 * terminal's line ends would write them. Values shorter than four characters and plain words (`true`, `none`) are left, or every log would be
 * holes. What overlaps is covered whole; the result never depends on how a stream was cut.
 */
export function createRedaction(secrets: readonly string[]): Redaction {
  const patterns = buildPatterns(secrets);
  const bytes = (content: Uint8Array): Uint8Array => {
    if (patterns.size === 0) return content;
    const scan = new Scan(patterns);
    return concat([scan.push(content), scan.end()]);
  };
  const text = (value: string): string => (patterns.size === 0 ? value : decoder.decode(bytes(encoder.encode(value.toWellFormed()))));
  return {
    active: patterns.size > 0,
    text,
    bytes,
    json: <T>(value: T): T => (patterns.size === 0 ? value : (mapStrings(value, text) as T)),
    stream: () => (patterns.size === 0 ? { push: (chunk) => chunk, end: () => new Uint8Array(0) } : new Scan(patterns)),
  };
}

/** First byte → patterns that begin with it. */
type Patterns = ReadonlyMap<number, readonly Uint8Array[]>;

class Scan implements RedactedStream {
  #patterns: Patterns;
  #first = new Uint8Array(256);
  /** By the first two bytes: nearly everything is passed over by one look here. */
  #pairs = new Uint8Array(65_536);
  #held: Uint8Array = new Uint8Array(0);
  /** Bytes at the start of `#held` that a match found earlier covers. */
  #covered = 0;

  constructor(patterns: Patterns) {
    this.#patterns = patterns;
    for (const [byte, starting] of patterns) {
      this.#first[byte] = 1;
      for (const pattern of starting) this.#pairs[(byte << 8) | (pattern[1] ?? 0)] = 1;
    }
  }

  push(chunk: Uint8Array): Uint8Array {
    return this.#scan(concat([this.#held, chunk]), false);
  }

  end(): Uint8Array {
    return this.#scan(this.#held, true);
  }

  #scan(input: Uint8Array, isLast: boolean): Uint8Array {
    const parts: Uint8Array[] = [];
    const first = this.#first;
    const pairs = this.#pairs;
    let covered = this.#covered;
    let plainFrom = covered;
    let at = 0;
    for (; at < input.length; at += 1) {
      const byte = input[at] ?? 0;
      if (first[byte] === 0 || (at + 1 < input.length && pairs[(byte << 8) | (input[at + 1] ?? 0)] === 0)) continue;
      const found = this.#matchAt(input, at, isLast);
      if (found === 'undecided') break;
      if (found === 0) continue;
      if (at >= covered) {
        parts.push(input.subarray(plainFrom, at), mark);
        covered = at + found;
      } else covered = Math.max(covered, at + found);
      plainFrom = covered;
    }
    const end = Math.min(at, input.length);
    if (plainFrom < end) parts.push(input.subarray(plainFrom, end));
    this.#held = input.slice(end);
    this.#covered = Math.max(0, covered - end);
    return concat(parts);
  }

  /** Length of the longest match; `undecided` when the input ends inside a pattern that fits so far. */
  #matchAt(input: Uint8Array, at: number, isLast: boolean): number | 'undecided' {
    let longest = 0;
    for (const pattern of this.#patterns.get(input[at] ?? 0) ?? []) {
      const length = Math.min(pattern.length, input.length - at);
      let index = 1;
      while (index < length && input[at + index] === pattern[index]) index += 1;
      if (index < length) continue;
      if (length === pattern.length) longest = Math.max(longest, length);
      else if (!isLast) return 'undecided';
    }
    return longest;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const mark = encoder.encode(REDACTED);
const plainWords: ReadonlySet<string> = new Set(['true', 'false', 'none', 'null', 'undefined', 'auto', 'default', 'debug', 'info']);

function buildPatterns(secrets: readonly string[]): Patterns {
  const found = new Map<number, Uint8Array[]>();
  const texts = new Set(secrets.filter((secret) => secret.length >= 4 && !plainWords.has(secret.toLowerCase())).flatMap(spellings));
  for (const text of texts) {
    const pattern = encoder.encode(text);
    const first = pattern[0];
    if (first === undefined) continue;
    found.set(first, [...(found.get(first) ?? []), pattern]);
  }
  return found;
}

function spellings(raw: string): string[] {
  const secret = raw.toWellFormed();
  const bytes = encoder.encode(secret);
  const percent = encodeURIComponent(secret);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [
    secret,
    secret.replaceAll('\n', '\r\n'),
    JSON.stringify(secret).slice(1, -1),
    percent,
    percent.replaceAll('%20', '+'),
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    ...(bytes.length < 8 ? [] : [hex, hex.toUpperCase(), ...[0, 1, 2].flatMap((offset) => encoded(bytes, offset))]),
  ];
}

/** The characters of a base64 text that these bytes alone decide when `offset` other bytes (mod 3) precede them, in both alphabets. */
function encoded(bytes: Uint8Array, offset: number): string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let text = '';
  const firstBit = Math.ceil((offset * 8) / 6) * 6;
  for (let bit = firstBit; bit + 6 <= (offset + bytes.length) * 8; bit += 6) {
    const index = Math.floor(bit / 8) - offset;
    const pair = ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
    text += alphabet[(pair >> (10 - (bit % 8))) & 63];
  }
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}

function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapStrings(item, map)]));
  }
  return value;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
