import { cellWidth, pad, truncate } from '../domain/terminal-text.ts';

/** `max`: the cells a column may take; what is longer is cut with `…`. Right-aligned columns hold numbers and are never cut. */
export type Column = { title: string; align?: 'left' | 'right'; max?: number };
/** `paint` colours a cell after it was cut and filled. */
export type Cell = string | { text: string; paint: (text: string) => string };
type Look = { columns: number; indent: number; dim(text: string): string };

/** Aligned rows below dim titles. The widest texts give way first; columns that still do not fit follow in a table of their own, each with the first column. */
export function textTable(header: readonly Column[], rows: readonly (readonly Cell[])[], look: Look): string[] {
  const room = look.columns - look.indent;
  const natural = header.map((column, index) =>
    naturalWidth(
      column,
      rows.map((row) => row[index] ?? ''),
      room,
    ),
  );
  const least = header.map((column, index) =>
    column.align === 'right' ? (natural[index] ?? 0) : Math.min(NARROWEST, natural[index] ?? 0),
  );
  let shown = header.length;
  while (shown > 2 && total(least.slice(0, shown)) > room) shown -= 1;
  const lines = render(header.slice(0, shown), rows, shrink(natural.slice(0, shown), least.slice(0, shown), room), look);
  if (shown === header.length) return lines;
  const rest = <T>(row: readonly T[]): T[] => [...row.slice(0, 1), ...row.slice(shown)];
  return [...lines, '', ...textTable(rest(header), rows.map(rest), look)];
}

function render(header: readonly Column[], rows: readonly (readonly Cell[])[], widths: readonly number[], { indent, dim }: Look): string[] {
  const cellText = (cell: Cell, index: number): string => {
    const text = typeof cell === 'string' ? cell : cell.text;
    const width = widths[index] ?? 0;
    const filled = pad(truncate(text, width), width, header[index]?.align === 'right' ? 'left' : 'right');
    const last = index === header.length - 1 ? filled.trimEnd() : filled;
    return typeof cell === 'string' ? last : cell.paint(last);
  };
  const line = (cells: readonly Cell[]) =>
    header
      .map((_, index) => cellText(cells[index] ?? '', index))
      .join('  ')
      .trimEnd();
  const space = ' '.repeat(indent);
  return [`${space}${dim(line(header.map((column) => column.title)))}`, ...rows.map((row) => `${space}${line(row)}`)];
}

function naturalWidth(column: Column, cells: readonly Cell[], room: number): number {
  const texts = cells.map((cell) => (typeof cell === 'string' ? cell : cell.text));
  const widest = [column.title, ...texts].reduce((width, text) => Math.max(width, cellWidth(text)), 0);
  return Math.min(
    widest,
    column.max ?? Number.POSITIVE_INFINITY,
    column.align === 'right' ? room - NARROWEST - 2 : Number.POSITIVE_INFINITY,
  );
}

function shrink(natural: readonly number[], least: readonly number[], room: number): number[] {
  const widths = [...natural];
  for (let over = total(widths) - room; over > 0; over = total(widths) - room) {
    const spare = widths.map((width, index) => (width > (least[index] ?? 0) ? width : -1));
    const widest = Math.max(...spare);
    if (widest === -1) break;
    const at = spare.indexOf(widest);
    const next = Math.max(...spare.filter((_, index) => index !== at), least[at] ?? 0);
    widths[at] = Math.max(least[at] ?? 0, widest - Math.min(over, Math.max(1, widest - next)));
  }
  return widths;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + 2 * Math.max(0, widths.length - 1);
}

const NARROWEST = 6;
