import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PipeStock } from './pipes.ts';
import { type RunOptions, runProgram } from './run-program.ts';

const directory = mkdtempSync(join(tmpdir(), 'proctor-run-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const pipes = new PipeStock(directory);
const env = { PATH: process.env.PATH ?? '' };

async function sh(script: string, options: Partial<RunOptions> = {}) {
  let stdout = '';
  const exit = await runProgram(
    { file: 'sh', args: ['-c', script], env },
    {
      pipes,
      stdout: (chunk) => {
        stdout += Buffer.from(chunk).toString();
      },
      ...options,
    },
  );
  return { exit, stdout };
}

test('a program can open its own streams again by name', async () => {
  const ran = await sh('cat /dev/stdin; echo more >/dev/stdout', { stdin: Buffer.from('bytes\n') });
  expect(ran).toEqual({ exit: { kind: 'exited', code: 0 }, stdout: 'bytes\nmore\n' });
});

test('all of a long output arrives before the end is told, and memory does not grow with it', async () => {
  let bytes = 0;
  const before = process.memoryUsage().rss;
  let most = before;
  const exit = await runProgram(
    { file: 'head', args: ['-c', '300000000', '/dev/zero'], env },
    {
      pipes,
      stdout: (chunk) => {
        bytes += chunk.length;
        if (bytes % 10_000_000 < 65_536) most = Math.max(most, process.memoryUsage().rss);
      },
    },
  );
  expect([exit, bytes]).toEqual([{ kind: 'exited', code: 0 }, 300_000_000]);
  expect(most - before).toBeLessThan(150 * 2 ** 20);
});

test('a reader that is slow at the end still gets the last bytes', async () => {
  const ran = sh('sleep 0.2; printf last');
  // Our own loop is busy when the program ends and for longer than output is waited for.
  await new Promise((resolve) => setTimeout(resolve, 150));
  const until = performance.now() + 500;
  while (performance.now() < until);
  expect((await ran).stdout).toBe('last');
});

test('a background child with the output open delays the end by a moment only, and may go on writing', async () => {
  const start = performance.now();
  const ran = await sh('(while :; do echo noise; sleep 0.01; done) & echo "pid $!"');
  expect(ran.exit).toEqual({ kind: 'exited', code: 0 });
  expect(performance.now() - start).toBeLessThan(3000);
  const pid = Number(/pid (\d+)/.exec(ran.stdout)?.[1]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(process.kill(pid, 'SIGKILL')).toBe(true);
});

test('a source for stdin that a program does not read is let go', async () => {
  let ended = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc(65_536);
    } finally {
      ended = true;
    }
  }
  expect((await sh('exit 4', { stdin: endless() })).exit).toEqual({ kind: 'exited', code: 4 });
  for (let looks = 0; looks < 50 && !ended; looks++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(ended).toBe(true);
});

test('what cannot be started is told with its reason', async () => {
  const exit = await runProgram({ file: '/no/such', args: [], env }, { pipes });
  expect(exit).toMatchObject({ kind: 'not_started', reason: expect.stringContaining('/no/such') });
  expect(await runProgram({ file: 'true', args: ['nul\0byte'], env }, { pipes })).toMatchObject({ kind: 'not_started' });
});
