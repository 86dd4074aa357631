import { serviceName } from './harbor-phases.ts';
import { itemPath } from './key-path.ts';
import { arrayOf, fail, text } from './lax-values.ts';
import { describeValue, isTable } from './plain-json.ts';
import { type Read, readTable, type TableReader } from './table-reader.ts';

export type HarborArtifact = string | { source: string; destination: string | null; exclude: string[]; service: string | null };

export function readArtifacts(reader: TableReader): HarborArtifact[] {
  const path = reader.at('artifacts');
  if (!reader.has('artifacts')) return [];
  const value = reader.raw('artifacts');
  if (!Array.isArray(value)) {
    reader.log.error(path, 'this is not an array', { expected: 'an array of paths or tables', found: describeValue(value) });
    return [];
  }
  if (value.length === 0) reader.log.take(path, []);
  return value.flatMap((item: unknown, index) => {
    const at = itemPath(path, index);
    if (isTable(item)) return readTable(item, at, reader.log, readArtifactTable) ?? [];
    const source = artifactSource({ value: item, path: at, log: reader.log });
    if (source !== undefined) reader.log.take(at, source);
    return source ?? [];
  });
}

function readArtifactTable(reader: TableReader): HarborArtifact | null {
  const source = reader.require('source', artifactSource, 'the path to keep');
  const destination = reader.take<string | null>('destination', artifactDestination, null);
  const exclude = reader.take('exclude', arrayOf(text, 'an array of patterns'), []);
  const service = reader.take<string | null>('service', serviceName, null);
  if (source === undefined) return null;
  if (service !== null && service !== 'main' && !/^(\/|[A-Za-z]:[\\/])/.test(source)) {
    reader.log.error(reader.at('source'), 'a path in another service must be absolute', {
      expected: 'an absolute path',
      found: JSON.stringify(source),
    });
  }
  return { source, destination: destination === '' ? null : destination, exclude, service };
}

const artifactSource: Read<string> = (cell) => {
  if (typeof cell.value !== 'string') return fail(cell, 'a path, or a table with source');
  return cell.value.split(/[\\/]/).includes('..') ? fail(cell, 'a path without ..') : cell.value;
};

const artifactDestination: Read<string> = (cell) => {
  const value = cell.value;
  if (typeof value !== 'string') return fail(cell, 'a relative path');
  if (value === '') return value;
  const parts = value.split('/').filter((part) => part !== '');
  const isRelative = !value.startsWith('/') && !value.includes('\\') && !/^[A-Za-z]:/.test(value) && !parts.includes('..');
  const named = parts.filter((part) => part !== '.');
  if (!isRelative || named.length === 0) return fail(cell, 'a relative path with forward slashes and without ..');
  return parts.join('/') === 'manifest.json' ? fail(cell, 'another name than manifest.json') : value;
};
