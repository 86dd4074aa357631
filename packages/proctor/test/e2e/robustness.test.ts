import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, script, unusable, World } from './world.ts';

const PROGRAM = path.join(import.meta.dirname, '..', '..', 'bin', 'proctor.js');
const CHECK =
  '#!/bin/sh\nif [ "$(cat /app/answer 2>/dev/null)" = 42 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n';
const TOML = '[verifier]\ncommand = ["/tests/test.sh"]\n';

type Ended = { code: number | null; stdout: string; stderr: string };

for (const sandbox of ['docker', 'local'] as Sandbox[]) {
  const reason = await unusable(sandbox);
  if (reason !== null) console.warn(`robustness in the ${sandbox} sandbox is not tested: ${reason}`);
  describe.skipIf(reason !== null)(`robustness in the ${sandbox} sandbox`, () => {
    let world: World;
    beforeEach(() => {
      world = new World();
    });
    afterEach(() => world.close());

    const start = (args: string[], home = world.home, more: NodeJS.ProcessEnv = {}) => {
      const child = spawn(process.execPath, [PROGRAM, ...args], {
        env: { ...process.env, PROCTOR_HOME: home, NO_COLOR: '1', ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const end: Ended = { code: null, stdout: '', stderr: '' };
      child.stdout.on('data', (chunk) => (end.stdout += chunk));
      child.stderr.on('data', (chunk) => (end.stderr += chunk));
      const ended = once(child, 'close').then(([code]): Ended => ({ ...end, code }));
      const saying = async (text: string) => {
        for (let waited = 0; !`${end.stderr}${end.stdout}`.includes(text); waited += 50) {
          if (waited > 30_000) throw new Error(`never said ${text}: ${end.stderr}`);
          await sleep(50);
        }
      };
      return { child, ended, saying };
    };
    const experiment = (tasks: string, agent: string, ...more: string[]) => [
      'eval',
      'experiment',
      tasks,
      '--agent',
      `mine=${agent}`,
      '--sandbox',
      sandbox,
      ...more,
    ];
    const task = (name = 'answer') => world.task(name, sandbox, { toml: TOML, test: CHECK });
    /** Solves at once; where a file `slow` of the task's name says so, sleeps first. */
    const solver = script('echo 42 > /app/answer');
    const sleeper = script('echo 42 > /app/answer; sleep 61');
    const leftovers = async () =>
      (await (await world.open()).client.call('sandboxes.list', {})).filter((one) => one.state !== 'foreign' && one.kind !== 'image');

    test('a process killed outright leaves no sandbox, and the same command finishes the work', async () => {
      const folder = task();
      const killed = start(experiment(folder, sleeper, '--experiment', 'mine'));
      await killed.saying('started');
      await sleep(1500);
      killed.child.kill('SIGKILL');
      await killed.ended;
      for (let waited = 0; (await leftovers()).length > 0 && waited < 15_000; waited += 200) await sleep(200);
      expect(await leftovers()).toEqual([]);
      const again = await start(experiment(folder, solver, '--experiment', 'mine', '--json')).ended;
      const report = JSON.parse(again.stdout);
      expect(report.sessions.filter((one: { verdict: string | null }) => one.verdict === 'satisfied')).toHaveLength(1);
      const summaries = await (await world.open()).client.call('sessions.summaries', {});
      expect(summaries.map((one) => [one.outcome_result, one.trial_result, one.attribution])).toEqual([
        ['interrupted', 'unscored', 'infrastructure'],
        ['satisfied', 'passed', null],
      ]);
      const sessions = await (await world.open()).client.call('sessions.list', {});
      expect(sessions.map((one) => one.status)).toEqual(['closed', 'closed']);
      for (const one of sessions)
        expect((await (await world.open()).client.call('sessions.verify', { session_id: one.id })).faults).toEqual([]);
    });

    test('Ctrl-C once ends cleanly with 130, keeps what is finished, and the same command runs only the rest', async () => {
      world.task('a-quick', sandbox, { toml: TOML, test: CHECK });
      world.task('b-slow', sandbox, { toml: TOML, test: CHECK, instruction: 'slow\n' });
      world.task('c-never', sandbox, { toml: TOML, test: CHECK });
      const tasks = path.join(world.directory, 'tasks');
      const agent = script(
        'echo 42 > /app/answer; grep -q slow "$PROCTOR_INSTRUCTION_FILE" && [ ! -e /logs/agent/go ] && sleep 62; exit 0',
      );
      const first = start(experiment(tasks, agent, '--concurrency', '1'));
      await first.saying('a-quick × mine #1  passed');
      await first.saying('started  b-slow');
      await sleep(1500);
      first.child.kill('SIGINT');
      const end = await first.ended;
      expect(end.code).toBe(130);
      expect(await leftovers()).toEqual([]);
      const plan = await start(experiment(tasks, agent, '--concurrency', '1', '--dry-run', '--json')).ended;
      expect(JSON.parse(plan.stdout).trials.map((one: { task: string; action: string }) => [one.task, one.action])).toEqual([
        ['a-quick', 'reuse'],
        ['b-slow', 'run'],
        ['c-never', 'run'],
      ]);
      const later = await start(['report', '--json']).ended;
      expect([later.code, JSON.parse(later.stdout).trials]).toEqual([
        3,
        expect.objectContaining({ all: 3, passed: 1, unscored: 1, not_started: 1 }),
      ]);
    });

    test('a second Ctrl-C ends at once with 130 and leaves nothing running', async () => {
      const running = start(experiment(task(), sleeper));
      await running.saying('started');
      await sleep(1500);
      running.child.kill('SIGINT');
      running.child.kill('SIGINT');
      const end = await running.ended;
      expect(end.code).toBe(130);
      for (let waited = 0; (await leftovers()).length > 0 && waited < 15_000; waited += 200) await sleep(200);
      expect(await leftovers()).toEqual([]);
    });

    test('the same experiment twice at once is refused by name, two different ones both finish', async () => {
      const folder = task();
      const slow = script('echo 42 > /app/answer; sleep 4');
      const first = start(experiment(folder, slow, '--experiment', 'one'));
      await first.saying('started');
      const [same, other] = await Promise.all([
        start(experiment(folder, slow, '--experiment', 'one')).ended,
        start(experiment(folder, solver, '--experiment', 'two')).ended,
      ]);
      expect(same.code).toBe(2);
      expect(same.stderr).toContain('experiment one is being run by another process');
      expect(other.code).toBe(0);
      expect((await first.ended).code).toBe(0);
    });

    test('finished trials are reused, and a changed agent runs again', async () => {
      const folder = task();
      expect((await start(experiment(folder, solver)).ended).code).toBe(0);
      const again = await start(experiment(folder, solver, '--dry-run', '--json')).ended;
      expect(JSON.parse(again.stdout).trials[0].action).toBe('reuse');
      const changed = await start(experiment(folder, script('echo 42 > /app/answer # changed'), '--dry-run', '--json')).ended;
      expect(JSON.parse(changed.stdout).trials[0].action).toBe('run');
    });

    test('escape codes of an agent and a verifier never reach the terminal', async () => {
      const folder = world.task('loud', sandbox, {
        toml: TOML,
        test: '#!/bin/sh\nprintf "\\033[2J\\033]0;owned\\007"\nprintf "\\033[31mno" > /logs/verifier/reward.txt\n',
      });
      const end = await start(experiment(folder, script('printf "\\033[2J\\033[H"; exit 3'))).ended;
      expect(end.code).toBe(3);
      expect(`${end.stdout}${end.stderr}`).not.toContain('\u001b');
      expect(`${end.stdout}${end.stderr}`).not.toContain('\u0007');
    });

    test('below the disk watermark no Session gets a sandbox, and the message says what to do', async () => {
      const end = await start(experiment(task(), solver, '--max-attempts', '1'), world.home, { PROCTOR_DISK_WATERMARK_MB: '999999999' })
        .ended;
      expect(end.code).toBe(3);
      expect(`${end.stdout}${end.stderr}`).toMatch(/MiB are free .* proctor gc/s);
    });
  });
}

describe('a store on a disk of its own', () => {
  const mounted = path.join('/var/tmp', `proctor-small-${process.pid}`);
  const refused = mountSmall(mounted);
  if (refused !== null) console.warn(`a full disk is not tested: ${refused}`);

  test.skipIf(refused !== null)('a full disk ends the run with exit 3 and one sentence, and what was acknowledged stays', async () => {
    const world = new World();
    try {
      const folder = world.task('answer', 'local', { toml: TOML, test: CHECK, solve: '#!/bin/sh\necho 42 > /app/answer\n' });
      const home = path.join(mounted, 'home');
      mkdirSync(home, { recursive: true });
      const run = (more: string[]) =>
        new Promise<Ended>((resolve) => {
          const child = spawn(process.execPath, [PROGRAM, 'eval', 'experiment', folder, '--agent', 'oracle', ...more], {
            env: { ...process.env, PROCTOR_HOME: home, PROCTOR_DISK_WATERMARK_MB: '0', NO_COLOR: '1' },
          });
          const end: Ended = { code: null, stdout: '', stderr: '' };
          child.stdout.on('data', (chunk) => (end.stdout += chunk));
          child.stderr.on('data', (chunk) => (end.stderr += chunk));
          child.on('close', (code) => resolve({ ...end, code }));
        });
      const useLocal = (await unusable('local')) === null ? ['--sandbox', 'local'] : ['--isolation', 'none'];
      expect((await run([...useLocal, '--experiment', 'before'])).code).toBe(0);
      execFileSync('sh', ['-c', `cat /dev/zero > ${mounted}/fill 2>/dev/null || true`]);
      const full = await run([...useLocal, '--experiment', 'after']);
      expect([2, 3]).toContain(full.code);
      expect(full.stderr).toMatch(/full|space/i);
      execFileSync('rm', ['-f', `${mounted}/fill`]);
      expect((await run([...useLocal, '--experiment', 'after'])).code).toBe(0);
    } finally {
      await world.close();
      execFileSync('umount', [mounted]);
      execFileSync('rmdir', [mounted]);
    }
  });
});

function mountSmall(place: string): string | null {
  if (process.getuid?.() !== 0) return 'it needs root to mount a small file system';
  try {
    mkdirSync(place, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', place], { stdio: 'pipe' });
    return null;
  } catch (error) {
    return `a small file system cannot be mounted here: ${String(error)}`;
  }
}
