import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from './home.ts';

test('the folder is made for its owner alone', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'proctor-home-'));
  createHome(path.join(folder, 'a', 'b'));
  createHome(path.join(folder, 'a', 'b'));
  expect(statSync(path.join(folder, 'a', 'b')).mode & 0o777).toBe(0o700);
  writeFileSync(path.join(folder, 'file'), '');
  expect(() => createHome(path.join(folder, 'file', 'home'))).toThrow(/file\/home cannot be made .*PROCTOR_HOME/);
  rmSync(folder, { recursive: true });
});
