import { truncate } from '../domain/terminal-text.ts';

/** Breaks at spaces; a word that is longer than a line is cut. Continuation lines are indented like the first, and two more. */
export function wrap(text: string, columns: number): string[] {
  const indent = text.length - text.trimStart().length;
  const lines: string[] = [];
  let line = '';
  for (const word of text.trimStart().split(' ')) {
    const start = lines.length === 0 ? indent : indent + 2;
    const longer = line === '' ? `${' '.repeat(start)}${word}` : `${line} ${word}`;
    if (line === '' || fits(longer, columns)) line = longer;
    else {
      lines.push(truncate(line, columns));
      line = `${' '.repeat(indent + 2)}${word}`;
    }
  }
  return [...lines, truncate(line, columns)];
}

function fits(line: string, columns: number): boolean {
  return truncate(line, columns) === line;
}
