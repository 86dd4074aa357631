/**
 * A parsed value as JSON that says the same: dates as their text, whole numbers beyond 2^53 as digits, NaN and infinities by name. Nothing is
 * dropped, and a key of any name stays a plain key.
 */
export function plainJson(value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString().replace(/\.000(?=Z|[+-]\d\d:\d\d$|$)/, '');
  if (Array.isArray(value)) return isJson(value) ? value : value.map(plainJson);
  if (isTable(value)) return isJson(value) ? value : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainJson(item)]));
  return null;
}

/** Most values are JSON as they are: those are not copied. */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return isTable(value) && Object.values(value).every(isJson);
}

export type Table = Readonly<Record<string, unknown>>;

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** What was found, for a person: `a string "two"`, `an array`, `true`. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return `a string ${shorten(JSON.stringify(value))}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${value}`;
  if (typeof value === 'boolean') return `the boolean ${value}`;
  if (value instanceof Date) return 'a date or time';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (isTable(value)) return 'a table';
  return 'nothing';
}

function shorten(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 76)}…"`;
}
