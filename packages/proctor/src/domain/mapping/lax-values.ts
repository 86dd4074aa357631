import { childPath, itemPath } from './key-path.ts';
import { describeValue, isTable } from './plain-json.ts';
import type { Cell, Read } from './table-reader.ts';

/** Longest time that a timer of the host can hold, in seconds. */
export const MAX_SECONDS = 2_147_483;

export function fail(cell: Cell, expected: string, hint?: string): undefined {
  cell.log.error(cell.path, 'wrong value', { expected, found: describeValue(cell.value), ...(hint === undefined ? {} : { hint }) });
  return undefined;
}

export const text: Read<string> = (cell) => {
  if (typeof cell.value === 'string') return cell.value;
  const hint = typeof cell.value === 'number' || typeof cell.value === 'boolean' ? `Write "${cell.value}"` : undefined;
  return fail(cell, 'a string', hint);
};

export const nonEmptyText: Read<string> = (cell) => (cell.value === '' ? fail(cell, 'a string that is not empty') : text(cell));

export function oneOf<const T extends string>(...words: readonly T[]): Read<T> {
  return (cell) => words.find((word) => word === cell.value) ?? fail(cell, words.map((word) => `"${word}"`).join(', '));
}

/** Seconds for a limit of this host: finite, above zero (or zero where that means something). */
export const seconds: Read<number> = (cell) => {
  const value = finiteNumber(cell, 'seconds, such as 600');
  if (value === undefined) return undefined;
  return value > 0 && value <= MAX_SECONDS ? value : fail(cell, `seconds above 0 and at most ${MAX_SECONDS}`);
};

export const pause: Read<number> = (cell) => {
  const value = finiteNumber(cell, 'seconds, such as 5');
  if (value === undefined) return undefined;
  return value >= 0 && value <= MAX_SECONDS ? value : fail(cell, `seconds from 0 to ${MAX_SECONDS}`);
};

export function positive(unit: string): Read<number> {
  return (cell) => {
    const value = finiteNumber(cell, unit);
    if (value === undefined) return undefined;
    return value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : fail(cell, `${unit} above 0`);
  };
}

export function wholeNumber(minimum: number, unit: string): Read<number> {
  return (cell) => {
    const value = finiteNumber(cell, unit);
    if (value === undefined) return undefined;
    if (!Number.isInteger(value)) return fail(cell, `a whole number of ${unit}`);
    return value >= minimum && Number.isSafeInteger(value) ? value : fail(cell, `a whole number of ${unit}, at least ${minimum}`);
  };
}

/** A number as the format reads it: text that is a number counts, with a warning; booleans and what is not finite do not. */
export function finiteNumber(cell: Cell, expected: string): number | undefined {
  const value = cell.value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : fail(cell, `${expected}; a finite number`);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') return fail(cell, expected);
  const trimmed = value.trim();
  if (!/^[+-]?(\d+(_\d+)*\.?(\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+)?$/.test(trimmed)) return fail(cell, expected);
  const parsed = Number(trimmed.replaceAll('_', ''));
  if (!Number.isFinite(parsed)) return fail(cell, `${expected}; a finite number`);
  cell.log.warn(cell.path, `text that is a number, read as ${parsed}`, { hint: `Write ${parsed} without quotes` });
  return parsed;
}

/** A user of the image: a name (or `uid:gid`), or a uid. */
export const user: Read<string | number> = (cell) => {
  if (typeof cell.value === 'string') return cell.value;
  if (typeof cell.value === 'number' && Number.isSafeInteger(cell.value) && cell.value >= 0) return cell.value;
  return fail(cell, 'a user name or a whole number from 0');
};

export const laxBoolean: Read<boolean> = (cell) => {
  const word = typeof cell.value === 'string' ? cell.value.toLowerCase() : cell.value;
  if (word === true || word === false) return word;
  const known = LAX_BOOLEANS.find(([spelling]) => spelling === word);
  if (known === undefined) return fail(cell, 'true or false');
  cell.log.warn(cell.path, `read as ${known[1]}`, { hint: `Write ${known[1]} without quotes` });
  return known[1];
};

const LAX_BOOLEANS: readonly (readonly [string | number, boolean])[] = [
  ...([1, '1', 'true', 't', 'yes', 'y', 'on'] as const).map((spelling) => [spelling, true] as const),
  ...([0, '0', 'false', 'f', 'no', 'n', 'off'] as const).map((spelling) => [spelling, false] as const),
];

export function arrayOf<T>(read: Read<T>, expected: string): Read<T[]> {
  return (cell) => {
    if (!Array.isArray(cell.value)) return fail(cell, expected);
    const items = cell.value.map((value: unknown, index) => read({ ...cell, value, path: itemPath(cell.path, index) }));
    return items.every((item) => item !== undefined) ? items : undefined;
  };
}

export function recordOf<T>(read: Read<T>, expected: string): Read<Record<string, T>> {
  return (cell) => {
    if (!isTable(cell.value)) return fail(cell, expected);
    const entries: [string, T][] = [];
    let wrong = false;
    for (const [key, value] of Object.entries(cell.value)) {
      const item = read({ ...cell, value, path: childPath(cell.path, key) });
      if (item === undefined) wrong = true;
      else entries.push([key, item]);
    }
    return wrong ? undefined : Object.fromEntries(entries);
  };
}

export const environmentVariables = recordOf(text, 'a table of strings');
