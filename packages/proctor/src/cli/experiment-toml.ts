import { parse, TomlError } from 'smol-toml';
import type { ReadToml } from '../compositions/experiment-file.ts';
import { messageOf } from '../domain/errors.ts';

/** An experiment's TOML, where a key is written at the start of a line below its table's heading. */
export const readToml: ReadToml = async (text) => {
  try {
    return { kind: 'parsed', value: parse(text), at: (path) => keyPosition(text, path) };
  } catch (error) {
    const [line, column] = error instanceof TomlError ? [error.line, error.column] : [null, null];
    return { kind: 'failed', message: messageOf(error).split('\n')[0]?.replace('Invalid TOML document: ', '') ?? 'not TOML', line, column };
  }
};

function keyPosition(text: string, path: string): { line: number; column: number } | null {
  const wanted = path.replaceAll('"', '').replace(/\[\d+\]$/, '');
  let table = '';
  for (const [index, line] of text.split('\n').entries()) {
    const heading = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (heading !== undefined) table = `${heading.replaceAll('"', '')}.`;
    const key = /^(\s*)("[^"]*"|[A-Za-z0-9_.-]+)\s*=/.exec(line);
    const found = heading !== undefined ? table.slice(0, -1) : key === null ? null : `${table}${key[2]?.replaceAll('"', '')}`;
    if (found === wanted) return { line: index + 1, column: (key?.[1]?.length ?? line.search(/\S/)) + 1 };
  }
  return null;
}
