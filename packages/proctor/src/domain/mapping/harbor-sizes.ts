import { fail, wholeNumber } from './lax-values.ts';
import { describeValue } from './plain-json.ts';
import type { Cell, TableReader } from './table-reader.ts';

/** `memory_mb`, or the deprecated `memory = "2G"`; both only when they agree. The same for storage. */
export function readSizeMb(reader: TableReader, name: 'memory' | 'storage'): number | null {
  const key = `${name}_mb`;
  const legacy = reader.has(name) ? readLegacySize(reader, name) : undefined;
  if (legacy === undefined) return reader.take<number | null>(key, wholeNumber(1, 'MiB'), null);
  if (!reader.has(key)) return legacy;
  const written = reader.written(key, wholeNumber(1, 'MiB'));
  if (typeof reader.raw(key) === 'string' || (written !== undefined && written !== legacy)) {
    reader.log.error(reader.at(name), `two sizes, and they differ`, {
      expected: `${key} = ${legacy}, or one of the two keys`,
      found: `${key} is ${describeValue(reader.raw(key))}`,
    });
  }
  return written ?? null;
}

/** Undefined = the key says nothing: it is no string, as the format has it. */
function readLegacySize(reader: TableReader, name: 'memory' | 'storage'): number | null | undefined {
  if (typeof reader.raw(name) === 'string') return reader.written(name, legacySize) ?? null;
  reader.ignore(name, 'deprecated, and only a string such as "2G" counts; kept in source_fields');
  reader.log.warn(reader.at(name), 'ignored: only a string such as "2G" counts here', { hint: `Write ${name}_mb, a number of MiB` });
  return undefined;
}

const MIB = { G: 1024, M: 1, K: 1 / 1024 } as const;

function legacySize(cell: Cell): number | undefined {
  const match = /^\s*([+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([GMK])\s*$/i.exec(String(cell.value));
  const unit = match?.[2]?.toUpperCase();
  if (match?.[1] === undefined || !(unit === 'G' || unit === 'M' || unit === 'K'))
    return fail(cell, 'a size such as "2G", "512M" or "1024K"');
  const size = Math.trunc(Number(match[1].replaceAll('_', '')) * MIB[unit]);
  return size >= 1 && Number.isSafeInteger(size) ? size : fail(cell, 'a size of at least 1 MiB');
}
