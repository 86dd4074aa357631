import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'proctor-folder-'));
afterAll(() => rmSync(scratch, { recursive: true }));

test('every missing folder is made with its mode, and named once', () => {
  const inner = path.join(scratch, 'a', 'b');
  expect(makeFolder(inner, { mode: 0o700 })).toEqual([path.join(scratch, 'a'), inner]);
  expect(statSync(inner).mode & 0o777).toBe(0o700);
  expect(makeFolder(inner)).toEqual([]);
});

test('a file or a broken link on the way is an error, and nothing is made', () => {
  writeFileSync(path.join(scratch, 'file'), '');
  symlinkSync('nowhere', path.join(scratch, 'link'));
  for (const name of ['file', 'file/below', 'link', 'link/below']) expect(() => makeFolder(path.join(scratch, name)), name).toThrow();
  expect(existsSync(path.join(scratch, 'nowhere'))).toBe(false);
});

test.skipIf(!existsSync('/proc/self'))('a filesystem that takes no folders is an error at once', () => {
  expect(() => makeFolder('/proc/proctor/below')).toThrow(/ENOENT/);
});
