/** A hash function handed in by the edge: bytes or text in, lower-case hex out. */
export type Hash = (content: string | Uint8Array) => string;

/**
 * RFC 8785 text of a JSON value: keys sorted by UTF-16 code unit, shortest numbers, lone surrogates replaced (of two keys that then are equal the
 * last one stays). `undefined` is left out of an object and is null in an array, as in JSON.stringify. Throws a TypeError on NaN, Infinity and
 * whatever is not plain JSON (dates, maps, functions, bigints).
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`expected a finite number, found ${value}`);
      return `${value}`;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value);
    default:
      throw new TypeError(`expected a JSON value, found ${typeof value}`);
  }
}

/** The JSON text of one string. */
export function canonicalString(text: string): string {
  return text.length <= SHORT && isPlainText(text) ? `"${text}"` : JSON.stringify(text.toWellFormed());
}

/** Up to here a look at each character is quicker than JSON.stringify. */
const SHORT = 40;

function isPlainText(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === QUOTE || unit === BACKSLASH || (unit >= 0xd800 && unit <= 0xdfff)) return false;
  }
  return true;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function canonicalArray(items: readonly unknown[]): string {
  let text = '[';
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0) text += ',';
    const item = items[index];
    text += item === undefined ? 'null' : canonicalJson(item);
  }
  return `${text}]`;
}

function canonicalObject(value: object): string {
  if (!isPlain(value)) throw new TypeError(`expected a plain object, found ${Object.prototype.toString.call(value)}`);
  let text = '';
  for (const key of sortedKeys(value)) {
    const item = value[key];
    if (item === undefined) continue;
    text += `${text === '' ? '' : ','}${canonicalString(key)}:${canonicalJson(item)}`;
  }
  return `{${text}}`;
}

/** From any realm: its prototype is null, or a prototype that has none itself. */
function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function sortedKeys(fields: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(fields);
  for (let index = 0; index < keys.length; index += 1) {
    if (!(keys[index] ?? '').isWellFormed()) return sortedWellFormed(fields);
  }
  return sortFew(keys);
}

/** Keys are compared as they are written, so after the replacement. Of keys that become equal the last one with a value stays. */
function sortedWellFormed(fields: Readonly<Record<string, unknown>>): string[] {
  const written = new Map<string, string>();
  for (const key of Object.keys(fields)) if (fields[key] !== undefined) written.set(key.toWellFormed(), key);
  return [...written.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, key]) => key);
}

/** Objects of events have few keys, mostly in order. */
function sortFew(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let index = 1; index < keys.length; index += 1) {
    const key = keys[index] ?? '';
    let place = index;
    for (let before = keys[place - 1]; before !== undefined && before > key; before = keys[place - 1]) {
      keys[place] = before;
      place -= 1;
    }
    keys[place] = key;
  }
  return keys;
}

const FEW = 16;
