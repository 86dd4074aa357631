import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, script, unusable, World } from './world.ts';

const CHECK =
  '#!/bin/sh\nif [ "$(cat /app/answer 2>/dev/null)" = 42 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n';
const HARBOR = '[verifier]\ncommand = ["/tests/test.sh"]\n';

for (const sandbox of ['docker', 'local'] as Sandbox[]) {
  const reason = await unusable(sandbox);
  if (reason !== null) console.warn(`verdicts in the ${sandbox} sandbox are not tested: ${reason}`);
  describe.skipIf(reason !== null)(`verdicts in the ${sandbox} sandbox`, () => {
    const world = new World();
    beforeAll(() => world.open());
    afterAll(() => world.close());
    let count = 0;
    const task = (test: string, toml = HARBOR, more = {}) => {
      count += 1;
      return world.task(`task-${count}`, sandbox, { toml, test, ...more });
    };

    test('the reference solution passes, doing nothing fails, and a wrong answer fails', async () => {
      const report = await world.run(
        task(CHECK, HARBOR, { solve: '#!/bin/sh\necho 42 > /app/answer\n' }),
        ['oracle', 'nop', script('echo 41 > /app/answer')],
        sandbox,
      );
      expect(report.sessions.map((one) => [one.verdict, one.trial_result, one.firmness])).toEqual([
        ['satisfied', 'passed', 'clean'],
        ['needs_revision', 'failed', 'clean'],
        ['needs_revision', 'failed', 'clean'],
      ]);
    });

    test.skipIf(sandbox !== 'docker')(
      'what the image brings in /tests is there for the check, and nothing that the agent put beside it',
      async () => {
        const toml = 'name = "baked"\n[verifier]\nuser = "nobody"\n';
        const baked = world.task('baked', sandbox, {
          test: CHECK.replace('= 42', '= "$(cat /tests/golden/answer)"').replace('if ', 'if [ ! -e /tests/planted ] && '),
          solve: '#!/bin/sh\necho 42 > /app/answer; echo 41 > /tests/golden/answer; touch /tests/planted\n',
          files: {
            'task.toml': toml,
            'environment/Dockerfile': 'FROM proctor-base:12\nWORKDIR /app\nCOPY golden /tests/golden\n',
            'environment/golden/answer': '42\n',
          },
        });
        const report = await world.run(
          baked,
          ['oracle', script('cp /tests/golden/answer /app; echo 43 | tee /tests/golden/answer > answer')],
          sandbox,
        );
        expect(report.sessions.map((one) => [one.verdict, one.reward])).toEqual([
          ['satisfied', 1],
          ['needs_revision', 0],
        ]);
      },
    );

    test.skipIf(sandbox !== 'docker')(
      'a volume of the image where the tests belong is the fault of the task, not tried again',
      async () => {
        const one = await world.one(
          world.task('volume', sandbox, {
            test: CHECK,
            files: {
              'task.toml': 'name = "volume"\n[verifier]\ntimeout_sec = 60\n',
              'environment/Dockerfile': 'FROM proctor-base:12\nWORKDIR /app\nVOLUME /tests\n',
            },
          }),
          'nop',
          sandbox,
        );
        expect(one).toMatchObject({ trial_result: 'unscored', attribution: 'task' });
      },
    );

    test.skipIf(sandbox !== 'docker')('a second verification has what the image starts by itself, as healthy as the first', async () => {
      const toml = 'name = "served"\n[environment.healthcheck]\ncommand = "test -e /dev/shm/up"\ninterval_sec = 0.2\nretries = 30\n';
      const served = world.task('served', sandbox, {
        test: CHECK.replace('if ', 'if [ -e /dev/shm/up ] && '),
        files: {
          'task.toml': toml,
          'environment/Dockerfile': 'FROM proctor-base:12\nWORKDIR /app\nCOPY start.sh /\nENTRYPOINT ["sh", "/start.sh"]\n',
          'environment/start.sh': '(sleep 1; : > /dev/shm/up) &\nexec "$@"\n',
        },
      });
      const one = await world.one(served, script('setsid sleep 300 >/dev/null 2>&1 & echo 42 > /app/answer'), sandbox);
      expect(one).toMatchObject({ verdict: 'satisfied', firmness: 'confirmed' });
    });

    test('a reward that the agent planted is never believed', async () => {
      const lazy = task('#!/bin/sh\nexit 0\n');
      const one = await world.one(lazy, script('mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt'), sandbox);
      expect(one).toMatchObject({ verdict: 'grading_failure', trial_result: 'unscored', reward: null });
      expect(one.warnings.map((warning) => warning.code)).toContain('tampering');
    });

    test('a planted reward beside honest work keeps the verdict that a clean second verification shares', async () => {
      const one = await world.one(task(CHECK), script('echo 42 > /app/answer; echo 1 > /logs/verifier/reward.txt'), sandbox);
      expect(one).toMatchObject({ verdict: 'satisfied', reward: 1 });
      expect(one.warnings.map((warning) => warning.code)).toContain('tampering');
    });

    test('a background process that rewrites the reward gives no firm pass', async () => {
      const racing = script("setsid sh -c 'while :; do echo 1 > /logs/verifier/reward.txt 2>/dev/null; done' >/dev/null 2>&1 & exit 0");
      const one = await world.one(task(`${CHECK}sleep 0.3\n`, `${HARBOR}live_processes = "keep"\n`), racing, sandbox);
      expect(one.verdict).not.toBe('satisfied');
      expect(one.warnings.map((warning) => warning.code)).toContain('left_processes');
    });

    test('the same process is killed before grading where the policy says so', async () => {
      const racing = script(
        "setsid sh -c 'while :; do echo 1 > /logs/verifier/reward.txt 2>/dev/null; sleep 0.05; done' >/dev/null 2>&1 & exit 0",
      );
      const one = await world.one(task(`${CHECK}sleep 0.5\n`, `${HARBOR}live_processes = "kill"\n`), racing, sandbox);
      expect(one.verdict).not.toBe('satisfied');
      expect(one.reward ?? 0).toBe(0);
    });

    test('work that needs a running process passes and is called live; work that does not is confirmed', async () => {
      const needs = task(
        '#!/bin/sh\nif kill -0 "$(cat /app/pid)" 2>/dev/null; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n',
        `${HARBOR}live_processes = "keep"\n`,
      );
      expect(await world.one(needs, script('setsid sleep 300 >/dev/null 2>&1 & echo $! > /app/pid'), sandbox)).toMatchObject({
        verdict: 'satisfied',
        firmness: 'live',
      });
      const free = task(CHECK, `${HARBOR}live_processes = "keep"\n`);
      expect(await world.one(free, script('setsid sleep 300 >/dev/null 2>&1 & echo 42 > /app/answer'), sandbox)).toMatchObject({
        verdict: 'satisfied',
        firmness: 'confirmed',
      });
    });

    test.each([
      ['publishes nothing', 'exit 0', 'reward_missing'],
      ['publishes NaN', 'echo nan > /logs/verifier/reward.txt', 'reward_not_finite'],
      ['publishes words', 'echo well done > /logs/verifier/reward.txt', 'reward_unreadable'],
      ['publishes an empty file', ': > /logs/verifier/reward.txt', 'reward_empty'],
      ['publishes more than its range', 'echo 7 > /logs/verifier/reward.txt', 'reward_out_of_range'],
      ['publishes 100 MB', 'head -c 100000000 /dev/zero | tr "\\0" 1 > /logs/verifier/reward.txt', 'reward_too_large'],
      ['prints escape codes and fails', 'printf "\\033[2J\\033[31mboom"; exit 3', 'reward_missing'],
    ])('a verifier that %s gives no verdict', async (_, body, failure) => {
      const one = await world.one(task(`#!/bin/sh\n${body}\n`), 'nop', sandbox);
      expect(one).toMatchObject({ verdict: 'grading_failure', trial_result: 'unscored', reward: null, attribution: 'verifier' });
      expect(one.failure_mode ?? one.settle_reason).toContain(failure);
    });

    test('a verifier that hangs is ended with everything it started, whatever it left', async () => {
      const one = await world.one(
        task('#!/bin/sh\necho 1 > /logs/verifier/reward.txt\nsetsid sleep 77 &\nsleep 60\n', `${HARBOR}timeout_sec = 1.0\n`),
        'nop',
        sandbox,
      );
      expect(one).toMatchObject({ verdict: 'grading_failure', reward: null, attribution: 'verifier' });
      expect(one.failure_mode ?? one.settle_reason).toContain('verifier_timed_out');
    });

    test('a verifier exit code is not a verdict', async () => {
      expect(await world.one(task('#!/bin/sh\necho 1 > /logs/verifier/reward.txt\nexit 9\n'), 'nop', sandbox)).toMatchObject({
        verdict: 'satisfied',
      });
    });

    test('an agent that times out is still evaluated, and its whole tree is gone', async () => {
      const slow = script('echo 42 > /app/answer; setsid sleep 78 & sleep 60');
      const one = await world.one(task(CHECK, `[agent]\ntimeout_sec = 1.0\n${HARBOR}`), slow, sandbox);
      expect(one).toMatchObject({ verdict: 'satisfied', trial_result: 'passed', firmness: 'clean' });
      expect(one.agent_exit).toContain('timed out');
    });

    test('an agent that fails is still evaluated', async () => {
      const one = await world.one(task(CHECK), script('echo 42 > /app/answer; exit 7'), sandbox);
      expect(one).toMatchObject({ verdict: 'satisfied' });
      expect(one.agent_exit).toContain('7');
    });

    test('the second iteration works on the same files, is told what failed, and cannot read the tests', async () => {
      const agent = script(
        'if [ "$PROCTOR_ITERATION" = 1 ]; then echo first > /app/answer; else [ -e /tests/test.sh ] && echo leaked > /app/leak; grep -q "not satisfy" "$PROCTOR_FEEDBACK_FILE" && [ "$(cat /app/answer)" = first ] && echo 42 > /app/answer; fi',
      );
      const check = `${CHECK}[ -e /app/leak ] && echo 0 > /logs/verifier/reward.txt\nexit 0\n`;
      const one = await world.one(task(check), agent, sandbox, { maxIterations: 3 });
      expect(one).toMatchObject({ verdict: 'satisfied', iterations: 2, outcome_result: 'satisfied', max_iterations: 3 });
    });

    test('an isolated verification has the declared network', async () => {
      const check =
        '#!/bin/sh\n[ "$(ls /sys/class/net | wc -l)" -gt 1 ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n';
      const one = await world.one(task(check), 'nop', sandbox, { maxIterations: 2 });
      expect(one).toMatchObject({ verdict: 'satisfied', place: 'isolated' });
    });

    test.skipIf(sandbox !== 'docker')('an agent that reaches its memory limit is graded as it stands, and that is said', async () => {
      const greedy = script('echo 42 > /app/answer; head -c 200000000 /dev/zero | tail > /dev/null; exit 1');
      const one = await world.one(task(CHECK, `memory_mb = 64\n${HARBOR}`), greedy, sandbox);
      expect(one).toMatchObject({ verdict: 'satisfied', trial_result: 'passed' });
      const failed = (await world.events(one.session_id)).find((event) => event.type === 'run.failed');
      expect(failed?.data).toContain('limit_reached');
    });

    test('an agent that removes the working directory is judged, not left out', async () => {
      const one = await world.one(task(CHECK), script('cd / && rm -rf /app'), sandbox);
      expect(one).toMatchObject({ verdict: 'needs_revision', trial_result: 'failed', reward: 0 });
    });

    test('a loop that runs out ends with its last verdict', async () => {
      const one = await world.one(task(CHECK), script('echo no > /app/answer'), sandbox, { maxIterations: 2 });
      expect(one).toMatchObject({
        verdict: 'needs_revision',
        iterations: 2,
        outcome_result: 'max_iterations_reached',
        trial_result: 'failed',
      });
    });

    test('the diff of the working directory, the verifier log and a re-verifiable chain are kept', async () => {
      const one = await world.one(task(`${CHECK}echo checked the answer\n`), script('echo 42 > /app/answer'), sandbox);
      expect(await world.text(one.session_id, 'workdir.diff')).toContain('+42');
      expect(await world.text(one.session_id, 'verifier-1/output.txt')).toContain('checked the answer');
      const { client } = await world.open();
      expect(await client.call('sessions.verify', { session_id: one.session_id })).toMatchObject({ faults: [], absent: 0 });
    });

    test('what the agent leaves in the directory for artifacts is kept without being asked for, and an empty one is nothing', async () => {
      const { client } = await world.open();
      const kept = async (text: string) => {
        const { session_id } = await world.one(task(CHECK), script(text), sandbox);
        const files = await client.call('sessions.files', { session_id });
        return files.filter((file) => file.kind === 'deliverable').map((file) => [file.path, file.state]);
      };
      expect(await kept('echo 42 > /app/answer; mkdir /logs/artifacts/plots; echo x > /logs/artifacts/plots/a.svg')).toEqual([
        ['/logs/artifacts', 'kept'],
      ]);
      expect(await kept('echo 42 > /app/answer')).toEqual([]);
    });

    test("the task's own files are in no diff until the agent touches them", async () => {
      const given = {
        files: { 'environment/kept.txt': 'as it was\n', 'environment/changed.txt': 'old\n', 'environment/sub/gone.txt': 'here\n' },
      };
      const folder = task(CHECK, HARBOR, given);
      const nothing = await world.one(folder, script('true'), sandbox);
      expect(await world.text(nothing.session_id, 'workdir.diff')).toBe('');
      const work = await world.one(folder, script('cd /app; echo new > changed.txt; rm sub/gone.txt; echo 42 > answer'), sandbox);
      const diff = await world.text(work.session_id, 'workdir.diff');
      expect(diff).toMatch(/--- a\/changed\.txt\n\+\+\+ b\/changed\.txt\n@@ .* @@\n-old\n\+new\n/);
      expect(diff).toMatch(/--- a\/sub\/gone\.txt\n\+\+\+ \/dev\/null\n@@ .* @@\n-here\n/);
      expect(diff).toMatch(/--- \/dev\/null\n\+\+\+ b\/answer\n/);
      expect(diff).not.toContain('kept.txt');
    });

    test('an interrupted experiment ends its Sessions and leaves no sandbox behind', async () => {
      const stop = new AbortController();
      const report = await world.run(task(CHECK), [script('sleep 60')], sandbox, {
        signal: stop.signal,
        progress: (event) => event.kind === 'trial_phase' && event.phase === 'agent' && setTimeout(() => stop.abort(), 100),
      });
      expect(report.sessions[0]).toMatchObject({ trial_result: 'unscored', attribution: 'cancelled', outcome_result: 'interrupted' });
      const { client } = await world.open();
      expect((await client.call('sandboxes.list', {})).filter((one) => one.state === 'living' && one.kind !== 'image')).toEqual([]);
    });
  });
}
