import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const workspace = path.join(import.meta.dirname, '..', '..');
/** A Node too old to run the product, if this host has one. */
const oldNode = ['/usr/bin/node', '/usr/local/bin/node'].find(
  (node) => existsSync(node) && Number(execFileSync(node, ['-p', 'process.versions.node.split(".")[0]'])) < 24,
);

let scratch: string;
let installed: string;
beforeAll(async () => {
  scratch = await mkdtemp(path.join(os.tmpdir(), 'proctor-install-'));
  const staged = path.join(scratch, 'package');
  await cp(path.join(workspace, 'bin'), path.join(staged, 'bin'), { recursive: true });
  await cp(path.join(workspace, 'package.json'), path.join(staged, 'package.json'));
  // Built beside the work tree: a test must not change what other tests run.
  execFileSync(process.execPath, [path.join(workspace, '..', '..', 'scripts', 'build.ts'), path.join(staged, 'dist')], { stdio: 'pipe' });
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', scratch], { cwd: staged, stdio: 'pipe' });
  const tarball = (await readdir(scratch)).find((name) => name.endsWith('.tgz')) ?? '';
  const offline = ['--offline', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', '--global', '--prefix', path.join(scratch, 'prefix'), ...offline, path.join(scratch, tarball)], {
    stdio: 'pipe',
  });
  installed = path.join(scratch, 'prefix', 'bin', 'proctor');
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

test('the installed package says its version, outside the workspace', () => {
  const { status, stdout, stderr } = run(process.execPath, '--version');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^proctor \d+\.\d+\.\d+\n/);
});

test('the installed package runs an experiment', () => {
  const task = path.join(workspace, '..', '..', 'examples', 'tasks', 'anywhere', 'first-file');
  const { status, stdout, stderr } = run(
    process.execPath,
    'eval',
    'experiment',
    task,
    '--agent',
    'oracle',
    '--isolation',
    'none',
    '--json',
  );
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ lane: 'oracle', trial_result: 'passed', isolation: 'none' }] });
});

test('the installed package needs no other', async () => {
  expect(await readdir(path.join(scratch, 'prefix', 'lib', 'node_modules'))).toEqual(['proctor']);
  expect(existsSync(path.join(scratch, 'prefix', 'lib', 'node_modules', 'proctor', 'node_modules'))).toBe(false);
});

test('an older Node is refused in one sentence', (context) => {
  if (oldNode === undefined) {
    context.skip('this host has no Node older than 24');
    return;
  }
  const { status, stdout, stderr } = run(oldNode, '--version');
  expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
  expect(stderr).toMatch(/^proctor needs Node 24 or newer, and this is Node [\d.]+: .+\n$/);
});

function run(node: string, ...args: string[]) {
  return spawnSync(node, [installed, ...args], {
    cwd: scratch,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: scratch, PROCTOR_HOME: path.join(scratch, 'home') },
  });
}
