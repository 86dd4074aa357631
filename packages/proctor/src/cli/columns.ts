import { cellWidth } from '../domain/terminal-text.ts';

/** Rows as aligned columns, two spaces apart; the last column is as wide as its text. */
export function aligned(rows: readonly (readonly string[])[], indent = ''): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cellWidth(cell));
    });
  }
  return rows
    .map(
      (row) =>
        indent +
        row.map((cell, index) => (index === row.length - 1 ? cell : cell + ' '.repeat((widths[index] ?? 0) - cellWidth(cell)))).join('  '),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** A table with a heading row. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[], dim: (text: string) => string): string {
  return aligned([heading.map(dim), ...rows]);
}

/** `1.5 MiB` */
export function bytes(count: number | null): string {
  if (count === null) return '—';
  if (count < 1024) return `${count} B`;
  const power = Math.min(4, Math.floor(Math.log2(count) / 10));
  const value = count / 1024 ** power;
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`;
}

/** `850 ms`, `12.3 s`, `4 min`, `4 min 05 s`, `2 h 03 min` */
export function spell(milliseconds: number | null): string {
  if (milliseconds === null) return '—';
  if (milliseconds > 0 && milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`;
  if (seconds < 3600) return two(seconds / 60, 'min', seconds % 60, 's');
  return two(seconds / 3600, 'h', (seconds % 3600) / 60, 'min');
}

function two(large: number, unit: string, small: number, smallUnit: string): string {
  const rest = Math.floor(small);
  return rest === 0 ? `${Math.floor(large)} ${unit}` : `${Math.floor(large)} ${unit} ${String(rest).padStart(2, '0')} ${smallUnit}`;
}

/** Local time for a person. */
export function localTime(at: string | null): string {
  if (at === null) return '—';
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  return Number.isNaN(date.getTime())
    ? at
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
