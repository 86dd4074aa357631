import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collect, packEntries, packTree, readEntries } from './tar.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tar-'));
});
afterAll(() => rm(folder, { recursive: true }));

const bounds = { maxFileBytes: 1000, maxFiles: 100 };

test('what was packed is read: content, modes, directories, links and long names', async () => {
  await writeFile(join(folder, 'on-disk'), 'x'.repeat(500));
  const long = `${'deep/'.repeat(60)}name`;
  const tar = packEntries([
    { path: 'a.txt', type: 'file', content: 'hello', mode: 0o755 },
    { path: 'd', type: 'directory' },
    { path: 'd/link', type: 'symlink', link: '/etc/passwd' },
    { path: long, type: 'file', content: new Uint8Array([0, 255]) },
    { path: 'copied', type: 'file', file: join(folder, 'on-disk'), bytes: 500 },
    { path: 'empty', type: 'file', content: '' },
  ]);
  const entries = await readEntries(tar, bounds);
  expect(entries.map((one) => [one.path, one.type, one.mode, one.size])).toEqual([
    ['a.txt', 'file', 0o755, 5],
    ['d', 'directory', 0o755, 0],
    ['d/link', 'symlink', expect.any(Number), 0],
    [long, 'file', 0o644, 2],
    ['copied', 'file', 0o644, 500],
    ['empty', 'file', 0o644, 0],
  ]);
  expect(entries[2]).toMatchObject({ link: '/etc/passwd', content: null });
  expect([...entries[3]!.content!]).toEqual([0, 255]);
  expect(entries[5]!.content).toHaveLength(0);
});

test('a file over the bound is listed without its content, and entries past the bound are not read', async () => {
  const tar = await collect(
    packEntries(['a', 'b', 'c'].map((path) => ({ path, type: 'file' as const, content: 'x'.repeat(path === 'a' ? 2000 : 1) }))),
  );
  const whole = await readEntries(tar, bounds);
  expect(whole.map((one) => [one.size, one.content === null])).toEqual([
    [2000, true],
    [1, false],
    [1, false],
  ]);
  expect(await readEntries(tar, { ...bounds, maxFiles: 2 })).toMatchObject([{ path: 'a' }, { path: 'b' }]);
});

test('a file that is shorter than promised, or missing, fails the archive', async () => {
  await writeFile(join(folder, 'short'), 'abc');
  await expect(collect(packTree({ root: folder, files: [{ path: 'short', bytes: 10, mode: 0o644 }] }))).rejects.toThrow();
  await expect(collect(packTree({ root: folder, files: [{ path: 'absent', bytes: 10, mode: 0o644 }] }))).rejects.toThrow(/ENOENT/);
});

test('a reader that stops early leaves nothing waiting', async () => {
  async function* endless() {
    for (let index = 0; ; index++) yield { path: `f${index}`, type: 'file' as const, content: 'x'.repeat(10_000) };
  }
  for await (const chunk of packEntries(endless())) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  expect(await readEntries(packEntries(endless()), { maxFileBytes: 1, maxFiles: 3 })).toHaveLength(3);
});

test('a cut archive is an error', async () => {
  const tar = await collect(packEntries([{ path: 'a', type: 'file', content: 'x'.repeat(5000) }]));
  await expect(readEntries(tar.subarray(0, 2000), bounds)).rejects.toThrow();
});
