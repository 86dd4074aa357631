import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome, homePath } from './home.ts';

test.each([
  [{ PROCTOR_HOME: '/srv/proctor', XDG_DATA_HOME: '/data', HOME: '/home/u' }, 'linux', '/srv/proctor'],
  [{ PROCTOR_HOME: 'here', HOME: '/home/u' }, 'linux', path.resolve('here')],
  [{ PROCTOR_HOME: '', XDG_DATA_HOME: '/data', HOME: '/home/u' }, 'linux', '/data/proctor'],
  [{ XDG_DATA_HOME: 'relative', HOME: '/home/u' }, 'linux', '/home/u/.local/share/proctor'],
  [{ HOME: '/Users/u' }, 'darwin', '/Users/u/Library/Application Support/proctor'],
])('%j on %s keeps its store in %s', (environment, platform, expected) => {
  expect(homePath(environment, platform)).toBe(expected);
});

test('the folder is made for its owner alone', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'proctor-home-'));
  createHome(path.join(folder, 'a', 'b'));
  createHome(path.join(folder, 'a', 'b'));
  expect(statSync(path.join(folder, 'a', 'b')).mode & 0o777).toBe(0o700);
  writeFileSync(path.join(folder, 'file'), '');
  expect(() => createHome(path.join(folder, 'file', 'home'))).toThrow(/file\/home cannot be made .*PROCTOR_HOME/);
  rmSync(folder, { recursive: true });
});
