import { cellWidth, pad, truncate } from '../domain/terminal-text.ts';

/** `max`: the cells a column may take; what is longer is cut with `…`. `paint` colours a cell after it was cut and filled. */
export type Column = { title: string; align?: 'left' | 'right'; max?: number };
export type Cell = string | { text: string; paint: (text: string) => string };

/** Aligned rows below dim titles. The widest left-aligned columns give way first when the table is wider than `columns`. */
export function textTable(
  header: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: { columns: number; indent: number; dim(text: string): string },
): string[] {
  const widths = fit(header, rows, options.columns - options.indent);
  const line = (cells: readonly Cell[], paintAll?: (text: string) => string): string => {
    const parts = header.map((column, index) => {
      const cell = cells[index] ?? '';
      const text = typeof cell === 'string' ? cell : cell.text;
      const filled = pad(truncate(text, widths[index] ?? 0), widths[index] ?? 0, column.align === 'right' ? 'left' : 'right');
      const last = index === header.length - 1 && column.align !== 'right' ? filled.trimEnd() : filled;
      return typeof cell === 'string' ? last : cell.paint(last);
    });
    const joined = parts.join('  ').trimEnd();
    return ' '.repeat(options.indent) + (paintAll === undefined ? joined : paintAll(joined));
  };
  return [
    line(
      header.map((column) => column.title),
      options.dim,
    ),
    ...rows.map((row) => line(row)),
  ];
}

function fit(header: readonly Column[], rows: readonly (readonly Cell[])[], columns: number): number[] {
  const widths = header.map((column, index) => {
    const cells = rows.map((row) => row[index] ?? '').map((cell) => (typeof cell === 'string' ? cell : cell.text));
    const widest = [column.title, ...cells].reduce((width, text) => Math.max(width, cellWidth(text)), 0);
    return Math.min(widest, column.max ?? Number.POSITIVE_INFINITY);
  });
  let over = widths.reduce((sum, width) => sum + width, 0) + 2 * (header.length - 1) - columns;
  while (over > 0) {
    const flexible = header.map((column, index) => (column.align === 'right' ? -1 : (widths[index] ?? 0)));
    const widest = flexible.indexOf(Math.max(...flexible));
    const width = flexible[widest] ?? 0;
    if (width <= NARROWEST) break;
    const second = Math.max(NARROWEST, ...flexible.filter((_, index) => index !== widest));
    const give = Math.min(over, Math.max(1, width - second));
    widths[widest] = Math.max(NARROWEST, width - give);
    over -= width - (widths[widest] ?? 0);
  }
  return widths;
}

const NARROWEST = 6;
