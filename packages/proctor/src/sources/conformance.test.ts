import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Source } from '../source.ts';
import { sources } from './index.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'sources-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** How a newcomer is given the same two tasks: the reference to pass for a folder that holds them. A source without a row has no test yet. */
const references: Record<string, (folder: string) => string> = {
  directory: (folder) => folder,
};

describe.each(Object.entries(sources))('%s', (name, source: Source) => {
  const folder = path.join(scratch, name);
  for (const task of ['b/two', 'a']) {
    mkdirSync(path.join(folder, task, 'tests'), { recursive: true });
    writeFileSync(path.join(folder, task, 'task.toml'), '');
    writeFileSync(path.join(folder, task, 'tests', 'test.sh'), '#!/bin/sh\n');
  }
  const refer = references[name];
  const options = { markers: ['task.toml'], scratch: path.join(scratch, 'scratch') };

  test('has a summary and a row of references', () => {
    expect(source.summary).not.toBe('');
    expect(refer).toBeDefined();
  });

  test('finds every task folder in one order', async () => {
    const reference = refer?.(folder) ?? '';
    expect(await source.accepts(reference)).toBe(true);
    const found = await source.discover(reference, options);
    expect(found.map((one) => [one.folder.name, one.marker])).toEqual([
      ['a', 'task.toml'],
      ['two', 'task.toml'],
    ]);
    expect(await source.discover(reference, options)).toEqual(found);
  });

  test('what it finds can be read', async () => {
    const [first] = await source.discover(refer?.(folder) ?? '', options);
    expect(await first?.folder.kindOf('tests')).toBe('directory');
    expect(await first?.folder.readText('task.toml')).toEqual({ text: '' });
    expect((await first?.folder.readTree('tests', { materializeLinks: false }))?.tree.files.map((file) => file.path)).toEqual(['test.sh']);
    expect(await first?.folder.readTree('solution', { materializeLinks: false })).toBeNull();
  });

  test('does not accept what is not there', async () => {
    expect(await source.accepts(path.join(scratch, 'nothing', 'here'))).toBe(false);
  });
});
