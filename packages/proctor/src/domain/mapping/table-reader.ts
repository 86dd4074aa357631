import { didYouMean } from './did-you-mean.ts';
import { childPath, itemPath } from './key-path.ts';
import type { MappingLog } from './mapping-log.ts';
import { describeValue, isTable, type Table } from './plain-json.ts';

/** One value, where it stands, and where to complain. */
export type Cell = { value: unknown; path: string; log: MappingLog };

/** Undefined = the value is wrong and the log says so. */
export type Read<T> = (cell: Cell) => T | undefined;

/** Reads one table key by key, so that no key stays without a fate: `end()` accounts for those nobody asked for. */
export class TableReader {
  readonly path: string;
  readonly log: MappingLog;
  readonly value: Table;
  readonly #asked: string[] = [];

  constructor(table: Table, path: string, log: MappingLog) {
    this.value = table;
    this.path = path;
    this.log = log;
  }

  has(key: string): boolean {
    this.#asked.push(key);
    return Object.hasOwn(this.value, key);
  }

  raw(key: string): unknown {
    return this.has(key) ? this.value[key] : undefined;
  }

  /** Of a key of the format, which needs no quotes. */
  at(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  /** A key with a default, which the account names where it says something. */
  take<T>(key: string, read: Read<T>, fallback: T, reason?: string): T {
    if (!this.has(key)) {
      if (reason !== undefined || (typeof fallback !== 'object' && fallback !== ''))
        this.log.defaulted(this.at(key), fallback, reason ?? 'not written');
      return fallback;
    }
    return this.written(key, read) ?? fallback;
  }

  /** A key that must be there. */
  require<T>(key: string, read: Read<T>, expected: string): T | undefined {
    if (this.has(key)) return this.written(key, read);
    this.log.error(this.at(key), 'this key is required', { expected, found: 'nothing' });
    return undefined;
  }

  /** A key that is known to be written. */
  written<T>(key: string, read: Read<T>): T | undefined {
    const path = this.at(key);
    const value = read({ value: this.raw(key), path, log: this.log });
    if (value !== undefined) this.log.take(path, value);
    else this.log.wrong(path);
    return value;
  }

  /** A table with keys of its own; `absent` when it is not written. */
  table<T>(key: string, read: (reader: TableReader) => T, absent: T): T {
    if (!this.has(key)) return absent;
    return readTable(this.raw(key), this.at(key), this.log, read) ?? absent;
  }

  /** A table that is there with its defaults when it is not written. */
  section<T>(key: string, read: (reader: TableReader) => T): T {
    const unwritten = () => read(new TableReader({}, this.at(key), this.log));
    if (!this.has(key)) return unwritten();
    return readTable(this.raw(key), this.at(key), this.log, read) ?? unwritten();
  }

  /** An array of tables. */
  tables<T>(key: string, read: (reader: TableReader) => T): T[] {
    if (!this.has(key)) return [];
    const value = this.raw(key);
    const path = this.at(key);
    if (!Array.isArray(value)) {
      this.log.error(path, 'this is not an array', { expected: 'an array of tables', found: describeValue(value) });
      return [];
    }
    if (value.length === 0) this.log.take(path, []);
    return value.flatMap((item: unknown, index) => readTable(item, itemPath(path, index), this.log, read) ?? []);
  }

  ignore(key: string, reason: string): void {
    const path = this.at(key);
    this.log.ignore(path, reason);
    this.log.carry(path, this.raw(key));
  }

  /** Every key that was not asked for is ignored, with a warning that names the key it may have been meant as. */
  end(): void {
    const keys = Object.keys(this.value);
    const asked = keys.length > FEW ? new Set(this.#asked) : null;
    if (keys.length === 0 && this.path !== '') this.log.take(this.path, {});
    for (const key of keys) {
      if (asked === null ? this.#asked.includes(key) : asked.has(key)) continue;
      const place = this.log.elsewhere.get(key);
      const guess = place === undefined ? didYouMean(key, this.#asked) : null;
      const hint = place === undefined ? (guess === null ? undefined : `Did you mean ${guess}?`) : `It belongs ${place}`;
      const path = childPath(this.path, key);
      this.log.ignore(path, 'not a key of this table; kept in source_fields');
      this.log.carry(path, this.value[key]);
      this.log.warn(path, 'unknown key, ignored', hint === undefined ? {} : { hint });
    }
  }
}

/** Up to here a list is searched quicker than a set is made. */
const FEW = 20;

/** Reads a table and accounts for every key of it. */
export function readTable<T>(value: unknown, path: string, log: MappingLog, read: (reader: TableReader) => T): T | undefined {
  if (!isTable(value)) {
    log.error(path, 'this is not a table', { expected: 'a table', found: describeValue(value) });
    return undefined;
  }
  const reader = new TableReader(value, path, log);
  const result = read(reader);
  reader.end();
  return result;
}
