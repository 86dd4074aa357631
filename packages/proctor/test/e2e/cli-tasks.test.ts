import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CommandLine, smallTask } from './command-line.ts';
import { type Sandbox, unusable } from './world.ts';

let cli: CommandLine;
beforeEach(() => {
  cli = new CommandLine();
});
afterEach(() => cli.remove());

describe('eval task', () => {
  test('what would run is shown, and no byte of the task acts on the terminal', async () => {
    cli.write(smallTask({ toml: 'max_iterations = 2\nunkown = 1\n' }));
    const { code, stdout, stderr } = await cli.run(['eval', 'task', 'task']);
    expect(code).toBe(0);
    for (const line of [
      /image +debian:12-slim/,
      /workdir +the image's WORKDIR, else \/app/,
      /iterations +at most 2/,
      /verifier +sh \/tests\/check\.sh/,
      /ignored +unkown/,
    ])
      expect(stdout).toMatch(line);
    expect(stdout).toContain('\\x1b[31mnothing');
    expect(stdout).not.toContain('\u001b');
    expect(stderr).toMatch(/^ {2}warning {2}task\/task\.toml:3:1: unkown/m);
  });

  test('as JSON it is the task, the account of every key and the warnings', async () => {
    cli.write(smallTask());
    const { code, stdout } = await cli.run(['eval', 'task', 'task', '--json']);
    const { task, account, warnings } = JSON.parse(stdout);
    expect([code, warnings]).toEqual([0, []]);
    expect(task).toMatchObject({
      name: 'small',
      instruction: expect.stringContaining('Do '),
      verifier: { argv: ['sh', '/tests/check.sh'] },
      environment: { image: { kind: 'reference' } },
    });
    expect(account).toContainEqual(expect.objectContaining({ path: 'name', fate: 'taken' }));
  });

  test('every error of a wrong task is told at its place, and the exit code is 2', async () => {
    cli.write(smallTask({ toml: 'max_iterations = 2.5', environment: 'cpus = "two"' }));
    const { code, stderr, stdout } = await cli.run(['eval', 'task', 'task']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/error +task\/task\.toml:2:1: max_iterations: .*expected a whole number from 1 to 20/);
    expect(stderr).toMatch(/error +task\/task\.toml:4:1: environment\.cpus: /);
    const json = await cli.run(['eval', 'task', 'task', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { code: 'invalid_task' },
      issues: expect.arrayContaining([
        expect.objectContaining({ path: 'max_iterations', place: { file: 'task.toml', line: 2, column: 1 } }),
      ]),
    });
  });

  test('it creates nothing', async () => {
    cli.write(smallTask());
    await cli.run(['eval', 'task', 'task']);
    expect(readdirSync(cli.folder)).toEqual(['task']);
  });

  test('a folder of several tasks is not one task, and one without any is told', async () => {
    cli.write(
      Object.fromEntries(
        ['a', 'b'].flatMap((name) => Object.entries(smallTask()).map(([file, text]) => [`all/${name}/${file.slice(5)}`, text])),
      ),
    );
    expect(await cli.run(['eval', 'task', 'all'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('found 2 tasks in all: name one of them, e.g. all/a'),
    });
    expect(await cli.run(['eval', 'task', 'nowhere'])).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere') });
  });
});

describe('eval experiment, before anything runs', () => {
  test('one bad task ends it with every error of every folder, and nothing was made', async () => {
    cli.write({ ...smallTask(), 'bad/task.toml': 'max_iterations = 0\n', 'bad/instruction.md': 'x\n' });
    const { code, stderr } = await cli.run(['eval', 'experiment', 'task', 'bad', '--agent', 'oracle']);
    expect(code).toBe(2);
    expect(stderr).toContain('1 of 2 tasks does not compile; nothing was created');
    expect(stderr).toMatch(/bad\/task\.toml:1:1: max_iterations/);
    expect(existsSync(path.join(cli.folder, 'home'))).toBe(false);
  });

  test('filters that leave nothing are told', async () => {
    cli.write(smallTask());
    expect(await cli.run(['eval', 'experiment', 'task', '--agent', 'oracle', '--include', 'x*'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--include'),
    });
  });

  test('a report that could not be written is refused now', async () => {
    cli.write({ ...smallTask(), file: '' });
    expect(await cli.run(['eval', 'experiment', 'task', '--agent', 'oracle', '--markdown', 'file/report.md'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be written'),
    });
  });

  test.skipIf(!existsSync('/proc/self'))('a folder that a filesystem refuses is refused at once', async () => {
    cli.write(smallTask());
    for (const args of [
      ['eval', 'experiment', 'task', '--agent', 'oracle', '--output', '/proc/none/out'],
      ['init', '/proc/none/tasks'],
    ]) {
      expect(await cli.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be written') });
    }
  });

  test('where nothing runs, no report file is left behind', async () => {
    cli.write({ ...smallTask(), 'bad/task.toml': '', 'old.xml': 'old' });
    const output = ['--output', 'out/deep', '--markdown', 'm/report.md', '--junit', 'old.xml'];
    expect(await cli.run(['eval', 'experiment', 'bad', '--agent', 'oracle', ...output])).toMatchObject({ code: 2 });
    expect(['out', 'm'].filter((name) => existsSync(path.join(cli.folder, name)))).toEqual([]);
    expect(readFileSync(path.join(cli.folder, 'old.xml'), 'utf8')).toBe('old');
  });

  test('the command as a file is written and read back, with a wrong key told at its line', async () => {
    cli.write(smallTask());
    const flags = [
      '--agent',
      'a=oracle',
      '--agent',
      'command:["sh","-c","exit 0"]',
      '--repeat',
      '3',
      '--network',
      'none',
      '--max-iterations',
      '4',
      '--agent-env',
      'TOKEN',
    ];
    expect(await cli.run(['eval', 'experiment', 'task', ...flags, '--write-config', 'proctor.toml'])).toMatchObject({ code: 0 });
    const file = path.join(cli.folder, 'proctor.toml');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('tasks = "./task"\nrepeat = 3\n');
    expect(text).toContain('a = "oracle"\nsh = "command:[\\"sh\\",\\"-c\\",\\"exit 0\\"]"\n');
    await cli.run(['eval', 'experiment', 'proctor.toml', '--write-config', 'again.toml']);
    expect(readFileSync(path.join(cli.folder, 'again.toml'), 'utf8')).toBe(text);
    cli.write({ 'proctor.toml': text.replace('max_iterations', 'max_iteration') });
    const { code, stderr } = await cli.run(['eval', 'experiment', 'proctor.toml', '--dry-run']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/proctor\.toml:\d+:1: settings\.max_iteration: unknown key\. Did you mean max_iterations\?/);
  });
});

for (const sandbox of ['docker', 'local'] as Sandbox[]) {
  const reason = await unusable(sandbox);
  if (reason !== null) console.warn(`init and check in the ${sandbox} sandbox are not tested: ${reason}`);
  test.skipIf(reason !== null)(
    `what init writes passes check in the ${sandbox} sandbox, and its agent passes one of two`,
    { timeout: 180_000 },
    async () => {
      const where = sandbox === 'docker' ? ['--sandbox', 'docker'] : ['--sandbox', 'local', '--ignore-image'];
      expect(await cli.run(['init', 'mine', '--image', 'proctor-base:12'])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('proctor check mine'),
      });
      expect(statSync(path.join(cli.folder, 'mine/hello/solution/solve.sh')).mode & 0o777).toBe(0o755);
      expect(await cli.run(['init', 'mine'])).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing was written') });
      const check = await cli.run(['check', 'mine', ...where, '--json']);
      expect(JSON.parse(check.stdout).tasks).toEqual([
        expect.objectContaining({ task: 'add-numbers', verdict: 'sound' }),
        expect.objectContaining({ task: 'hello', verdict: 'sound' }),
      ]);
      expect(check.code).toBe(0);
      const files = ['--markdown', 'out/r.md', '--junit', 'out/r.xml'];
      const ran = await cli.run([
        'eval',
        'experiment',
        'mine',
        '--agent',
        'command:./mine/agent.sh',
        '--experiment',
        'first',
        ...where,
        ...files,
      ]);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/^\d\d:\d\d:\d\d {2}✓ {2}hello × agent #1 {2}passed, reward 1/m);
      expect(readFileSync(path.join(cli.folder, 'out/r.xml'), 'utf8')).toContain('<testsuite');
      const report = await cli.run(['report', 'first', '--json']);
      expect([report.code, JSON.parse(report.stdout).trials]).toEqual([1, expect.objectContaining({ all: 2, passed: 1, failed: 1 })]);
      const [session] = JSON.parse((await cli.run(['sessions', 'list', '--experiment', 'first', '--json'])).stdout);
      const kept = JSON.parse((await cli.run(['sessions', 'files', session.id, '--json'])).stdout);
      const reward = kept.find((one: { path: string }) => one.path.endsWith('reward.txt'));
      expect((await cli.run(['sessions', 'cat', session.id, reward.path])).stdout).toMatch(/^[01]\n$/);
      expect(await cli.run(['sessions', 'verify', session.id])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('The chain holds'),
      });
      expect(await cli.run(['experiments', 'delete', 'first'])).toMatchObject({ code: 64, stderr: expect.stringContaining('--yes') });
      expect(await cli.run(['experiments', 'delete', 'first', '--yes'])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Deleted 2 Sessions'),
      });
    },
  );
}

test.skipIf((await unusable('local')) !== null)(
  'a task that cannot fail is unsound, and one that cannot pass too',
  { timeout: 120_000 },
  async () => {
    const task = (name: string, reward: string) =>
      Object.entries(smallTask({ environment: 'workdir = "/app"' })).map(([file, text]) => [
        `all/${name}/${file.slice(5)}`,
        text.replace('"small"', `"${name}"`).replace('echo 1', `echo ${reward}`),
      ]);
    cli.write(Object.fromEntries([...task('always', '1'), ...task('never', '0')]));
    const { code, stdout } = await cli.run(['check', 'all', '--sandbox', 'local']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/unsound +always +passed \(1\) +passed \(1\) +doing nothing passes/);
    expect(stdout).toMatch(/unsound +never +failed \(0\) +failed \(0\) +the reference solution does not pass/);
  },
);
