import { childPath, itemPath } from '../../domain/mapping/key-path.ts';

/** Where each key of a valid TOML text is written. Only for text that a parser has accepted: what is no TOML gives no sensible answer, but an end. */
export function findTomlPositions(text: string): Map<string, { line: number; column: number }> {
  return new PositionScanner(text).scan();
}

class PositionScanner {
  #text: string;
  #index = 0;
  #offsets = new Map<string, number>();
  /** Arrays of tables → how many were opened. */
  #counts = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  scan(): Map<string, { line: number; column: number }> {
    let table = '';
    for (this.#skipBlank(); this.#index < this.#text.length; this.#skipBlank()) {
      const before = this.#index;
      if (this.#peek() === '[') table = this.#header();
      else this.#pair(table);
      if (this.#index === before) this.#index += 1;
    }
    return this.#lines();
  }

  #header(): string {
    const isArray = this.#text.startsWith('[[', this.#index);
    this.#index += isArray ? 2 : 1;
    const keys = this.#keys();
    this.#skipTo('\n');
    let path = '';
    for (const [position, { key, offset }] of keys.entries()) {
      path = childPath(path, key);
      this.#note(path, offset);
      const isLast = position === keys.length - 1;
      const count = (this.#counts.get(path) ?? 0) + (isLast && isArray ? 1 : 0);
      if (count === 0) continue;
      this.#counts.set(path, count);
      path = itemPath(path, count - 1);
      this.#note(path, offset);
    }
    return path;
  }

  #pair(table: string): void {
    let path = table;
    for (const { key, offset } of this.#keys()) {
      path = childPath(path, key);
      this.#note(path, offset);
    }
    this.#skipInline();
    if (this.#peek() === '=') this.#index += 1;
    this.#value(path);
  }

  #keys(): { key: string; offset: number }[] {
    const keys: { key: string; offset: number }[] = [];
    for (;;) {
      this.#skipInline();
      const offset = this.#index;
      const quote = this.#peek();
      if (quote === '"' || quote === "'") {
        this.#string();
        keys.push({ key: unquote(this.#text.slice(offset, this.#index)), offset });
      } else {
        while (/[A-Za-z0-9_-]/.test(this.#peek())) this.#index += 1;
        if (this.#index === offset) return keys;
        keys.push({ key: this.#text.slice(offset, this.#index), offset });
      }
      this.#skipInline();
      if (this.#peek() !== '.') return keys;
      this.#index += 1;
    }
  }

  #value(path: string): void {
    this.#skipInline();
    const first = this.#peek();
    if (first === '"' || first === "'") this.#string();
    else if (first === '[') this.#array(path);
    else if (first === '{') this.#inlineTable(path);
    else while (this.#index < this.#text.length && !',]}\n#'.includes(this.#peek())) this.#index += 1;
  }

  #array(path: string): void {
    this.#index += 1;
    for (let item = 0; ; item += 1) {
      this.#skipBlank();
      if (this.#index >= this.#text.length || this.#peek() === ']') break;
      this.#note(itemPath(path, item), this.#index);
      this.#value(itemPath(path, item));
      this.#skipBlank();
      if (this.#peek() !== ',') break;
      this.#index += 1;
    }
    if (this.#peek() === ']') this.#index += 1;
  }

  #inlineTable(path: string): void {
    this.#index += 1;
    for (;;) {
      this.#skipBlank();
      if (this.#index >= this.#text.length || this.#peek() === '}') break;
      this.#pair(path);
      this.#skipBlank();
      if (this.#peek() !== ',') break;
      this.#index += 1;
    }
    if (this.#peek() === '}') this.#index += 1;
  }

  #string(): void {
    const quote = this.#peek();
    const triple = quote.repeat(3);
    const isLong = this.#text.startsWith(triple, this.#index);
    const end = isLong ? triple : quote;
    this.#index += end.length;
    while (this.#index < this.#text.length && !this.#text.startsWith(end, this.#index)) {
      this.#index += quote === '"' && this.#peek() === '\\' ? 2 : 1;
    }
    this.#index += end.length;
    // A long string may end in up to two quotes of its own.
    for (let extra = 0; isLong && extra < 2 && this.#peek() === quote; extra += 1) this.#index += 1;
  }

  #note(path: string, offset: number): void {
    if (!this.#offsets.has(path)) this.#offsets.set(path, offset);
  }

  #peek(): string {
    return this.#text[this.#index] ?? '';
  }

  #skipInline(): void {
    while (this.#peek() === ' ' || this.#peek() === '\t') this.#index += 1;
  }

  #skipBlank(): void {
    for (;;) {
      while (this.#peek() !== '' && ' \t\n\r'.includes(this.#peek())) this.#index += 1;
      if (this.#peek() !== '#') return;
      this.#skipTo('\n');
    }
  }

  #skipTo(end: string): void {
    const found = this.#text.indexOf(end, this.#index);
    this.#index = found === -1 ? this.#text.length : found;
  }

  #lines(): Map<string, { line: number; column: number }> {
    const entries = [...this.#offsets].sort(([, left], [, right]) => left - right);
    const positions = new Map<string, { line: number; column: number }>();
    let line = 1;
    let lineStart = 0;
    for (const [path, offset] of entries) {
      for (let next = this.#text.indexOf('\n', lineStart); next !== -1 && next < offset; next = this.#text.indexOf('\n', lineStart)) {
        line += 1;
        lineStart = next + 1;
      }
      positions.set(path, { line, column: offset - lineStart + 1 });
    }
    return positions;
  }
}

function unquote(quoted: string): string {
  const inner = quoted.slice(1, -1);
  if (quoted.startsWith("'")) return inner;
  return inner.replaceAll(/\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|.)/gs, (_, code: string) => {
    const point = code.length > 1 ? Number.parseInt(code.slice(1), 16) : Number.NaN;
    if (point <= 0x10ffff) return String.fromCodePoint(point);
    return ESCAPES.get(code) ?? code;
  });
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['t', '\t'],
  ['n', '\n'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\u001b'],
]);
