import { parse, TomlError } from 'smol-toml';
import { messageOf } from '../../domain/errors.ts';
import { isTable, type Table } from '../../domain/mapping/plain-json.ts';
import { findTomlPositions } from './toml-positions.ts';

export type Position = { line: number; column: number };

export type ParsedToml =
  | {
      kind: 'parsed';
      value: Table;
      hasByteOrderMark: boolean;
      /** Where a key, or the nearest key above it, is written. The text is looked at again only when this is asked. */
      at(path: string): Position | null;
      /** Every key by its path. */
      positions(): ReadonlyMap<string, Position>;
    }
  | { kind: 'failed'; message: string; line: number | null; column: number | null };

/** Deeper than any task, and far from the end of the stack. */
const MAX_DEPTH = 200;

/**
 * TOML 1.1. A byte order mark is left out and CRLF, also a lone CR, counts as a newline, so that positions are those of the file as an editor shows
 * it. Whole numbers beyond 2^53 are bigint.
 */
export function parseToml(source: string): ParsedToml {
  const hasByteOrderMark = source.startsWith('\uFEFF');
  const marked = hasByteOrderMark ? source.slice(1) : source;
  const text = marked.includes('\r') ? marked.replaceAll(/\r\n?/g, '\n') : marked;
  let value: unknown;
  try {
    value = parse(text, { integersAsBigInt: 'asNeeded', maxDepth: MAX_DEPTH });
  } catch (error) {
    const [line, column] = error instanceof TomlError ? [error.line, error.column] : [null, null];
    const message = messageOf(error).split('\n', 1)[0]?.replace('Invalid TOML document: ', '') ?? 'not TOML';
    return { kind: 'failed', message, line, column };
  }
  return parsedToml(text, isTable(value) ? value : {}, hasByteOrderMark);
}

function parsedToml(text: string, value: Table, hasByteOrderMark: boolean): ParsedToml {
  let found: ReadonlyMap<string, Position> | null = null;
  const positions = (): ReadonlyMap<string, Position> => {
    found ??= findTomlPositions(text);
    return found;
  };
  const at = (path: string): Position | null => {
    for (let key = path; key !== ''; key = parentPath(key)) {
      const position = positions().get(key);
      if (position !== undefined) return position;
    }
    return null;
  };
  return { kind: 'parsed', value, hasByteOrderMark, at, positions };
}

function parentPath(path: string): string {
  const match = /^(.*?)(?:\.?(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*")|\[\d+\])$/s.exec(path);
  return match?.[1] ?? '';
}
