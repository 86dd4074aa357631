import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { PROGRAM } from './command-line.ts';
import { unusable } from './world.ts';

const root = path.join(import.meta.dirname, '..', '..', '..', '..');
const RECORDER = pathToFileURL(path.join(import.meta.dirname, 'record-connections.mjs')).href;
const scratch = mkdtempSync(path.join(tmpdir(), 'proctor-quiet-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const task = 'examples/tasks/anywhere/first-file';
const sandbox = (await unusable('local')) === null ? ['--sandbox', 'local'] : ['--isolation', 'none'];
const withoutDocker = await unusable('docker');
const reason = noSilentNetwork();
if (reason !== null) console.warn(`skipped: ${reason}`);
if (withoutDocker !== null) console.warn(`skipped: ${withoutDocker}`);

describe.skipIf(reason !== null)('in a network without routes', () => {
  test.each([
    ['doctor', ['doctor']],
    ['eval task', ['eval', 'task', task]],
    ['check', ['check', task, ...sandbox]],
    ['an experiment', ['eval', 'experiment', task, '--agent', 'oracle', '--fresh', ...sandbox]],
    ['report', ['report']],
    ['gc', ['gc', '--dry-run']],
  ])('%s asks for nobody but the container engine’s socket', (_, args) => {
    const { code, asked, unroutable } = run([process.execPath, PROGRAM, ...args]);
    // A doctor may miss something here; that is no failure of this test.
    expect(args[0] === 'doctor' ? [0, 2] : [0]).toContain(code);
    expect(asked.filter(({ kind, target }) => kind !== 'unix' || !/(docker|podman)[^/]*\.sock$/.test(target))).toEqual([]);
    // The kernel’s own count, of every process: programs that ours starts too.
    expect(unroutable).toBe(0);
  });

  test.skipIf(withoutDocker !== null)('nor does an experiment in containers', () => {
    const image = 'examples/tasks/anywhere/first-file';
    const { code, asked, unroutable } = run([
      ...[process.execPath, PROGRAM, 'eval', 'experiment', image, '--agent', 'oracle', '--fresh', '--sandbox', 'docker'],
      ...['--image-template', 'proctor-base:12'],
    ]);
    expect(code).toBe(0);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter(({ kind }) => kind !== 'unix')).toEqual([]);
    expect(unroutable).toBe(0);
  });
});

/** Runs in a network namespace of its own, which has no route to anything. */
function run(argv: readonly string[]): { code: number | null; asked: { kind: string; target: string }[]; unroutable: number } {
  const connections = path.join(mkdtempSync(path.join(scratch, 'run-')), 'connections');
  const counters = `${connections}.kernel`;
  const script = 'out=$1; shift; "$@"; code=$?; cat /proc/self/net/snmp > "$out"; exit $code';
  const { status } = spawnSync('unshare', ['--net', '--', 'sh', '-c', script, 'sh', counters, ...argv], {
    cwd: root,
    env: {
      ...process.env,
      CONNECTIONS_FILE: connections,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${RECORDER}`.trim(),
      PROCTOR_HOME: path.join(scratch, 'home'),
    },
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: 120_000,
  });
  const lines = existsSync(connections) ? readFileSync(connections, 'utf8').trim().split('\n') : [];
  return {
    code: status,
    asked: lines.map((line) => JSON.parse(line) as { kind: string; target: string }),
    unroutable: existsSync(counters) ? counter(readFileSync(counters, 'utf8'), 'Ip', 'OutNoRoutes') : 0,
  };
}

function counter(snmp: string, protocol: string, name: string): number {
  const [names = [], values = []] = snmp
    .split('\n')
    .filter((line) => line.startsWith(`${protocol}:`))
    .map((line) => line.split(' '));
  return Number(values[names.indexOf(name)] ?? 0);
}

/** Null where both ways of looking see a program that does ask. */
function noSilentNetwork(): string | null {
  const { status } = spawnSync('unshare', ['--net', 'true'], { stdio: 'ignore' });
  if (status !== 0) return 'a network namespace cannot be made here: run as root on Linux, with util-linux';
  const asks = `
    require('node:net').connect(9, '192.0.2.1').on('error', () => {});
    require('node:dns').lookup('telemetry.invalid', () => {});
    fetch('http://192.0.2.2/').catch(() => {});`;
  const { asked, unroutable } = run([process.execPath, '-e', asks]);
  const seen = ['192.0.2.1:9', 'telemetry.invalid', '192.0.2.2:80'].filter((target) => !asked.some((one) => one.target === target));
  if (seen.length > 0) throw new Error(`the recorder did not see ${seen.join(', ')}: ${JSON.stringify(asked)}`);
  return unroutable > 0 ? null : 'this kernel does not count packets without a route';
}
