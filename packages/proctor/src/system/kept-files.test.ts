import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepFiles, keptFilesFolder } from './kept-files.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'kept-files-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const file = (name: string, text: string, mode = 0o644) => ({ path: name, mode, content: Buffer.from(text) });

test('keeps bytes and modes under a digest of paths, modes and bytes, in any order', async () => {
  const digest = await keepFiles(home, [file('b/run.sh', '#!/bin/sh\n', 0o755), file('a', 'text', 0o400)]);
  expect(await keepFiles(home, [file('a', 'text', 0o400), file('b/run.sh', '#!/bin/sh\n', 0o755)])).toBe(digest);
  const folder = keptFilesFolder(home, digest);
  expect(await readFile(path.join(folder, 'a'), 'utf8')).toBe('text');
  expect((await stat(path.join(folder, 'b/run.sh'))).mode & 0o777).toBe(0o755);
  const others = [[file('a', 'other', 0o400)], [file('a', 'text', 0o600)], [file('c', 'text', 0o400)], []];
  const digests = await Promise.all(others.map((files) => keepFiles(home, files)));
  expect(new Set([digest, ...digests]).size).toBe(5);
});

test('the same files kept many times at once are one folder, with nothing left beside it', async () => {
  const digests = await Promise.all(Array.from({ length: 20 }, () => keepFiles(home, [file('a', 'text'), file('b', 'more')])));
  expect(new Set(digests).size).toBe(1);
  expect(await readdir(path.join(home, 'agents'))).toEqual([digests[0]]);
});

test.each(['changed bytes', 'a missing file', 'another mode'])('%s of a kept copy are put right', async (damage) => {
  const digest = await keepFiles(home, [file('a', 'text')]);
  const place = path.join(keptFilesFolder(home, digest), 'a');
  if (damage === 'changed bytes') await writeFile(place, 'forged');
  else if (damage === 'a missing file') await rm(place);
  else await chmod(place, 0o777);
  await keepFiles(home, [file('a', 'text')]);
  expect(await readFile(place, 'utf8')).toBe('text');
  expect((await stat(place)).mode & 0o777).toBe(0o644);
  expect(await readdir(path.join(home, 'agents'))).toEqual([digest]);
});

test.each(['../a', '/a', 'a/../../b', '', './a'])('the path %j is refused', async (name) => {
  await expect(keepFiles(home, [file(name, 'x')])).rejects.toThrow(/expected a relative path inside/);
});
