import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CommandLine, PROGRAM } from './command-line.ts';

let cli: CommandLine;
beforeEach(() => {
  cli = new CommandLine();
});
afterEach(() => cli.remove());

test('the version says what runs and where results are kept', async () => {
  const { code, stdout } = await cli.run(['--store', './mine', '--version']);
  expect([code, stdout]).toEqual([0, `proctor 0.1.0\nnode    ${process.versions.node}\nstore   ${path.join(cli.folder, 'mine')}\n`]);
});

test('a usage error goes to stderr, points to the help of its command and exits 64', async () => {
  const { code, stdout, stderr } = await cli.run(['eval', 'experiment', 'tasks', '--repeat', '0']);
  expect([code, stdout]).toEqual([64, '']);
  expect(stderr).toBe('proctor: --repeat: expected a whole number from 1 to 100, found "0"\nSee: proctor eval experiment --help\n');
});

test('with --json an error is JSON on stdout, with its code', async () => {
  const { code, stdout, stderr } = await cli.run(['eval', 'experiment', '/nowhere', '--agent', 'oracle', '--budget', '5usd', '--json']);
  expect([code, stderr]).toEqual([2, '']);
  expect(JSON.parse(stdout)).toEqual({
    error: { code: 'capability_not_enabled', message: expect.stringContaining('budgets'), details: { capability: 'budgets' } },
  });
});

test('an experiment without an agent is a usage error, and nothing was made', async () => {
  const { code, stderr } = await cli.run(['eval', 'experiment', 'tasks']);
  expect(code).toBe(64);
  expect(stderr).toContain('--agent oracle');
  expect(existsSync(path.join(cli.folder, 'home'))).toBe(false);
});

test('an Environment of a bad name, or with a root that is no absolute path, is refused with what was expected', async () => {
  const named = await cli.run(['environments', 'create', 'Bad name']);
  const rooted = await cli.run(['environments', 'create', 'mine', '--capture-root', 'out']);
  expect([named.code, rooted.code]).toEqual([2, 2]);
  expect(named.stderr).toContain('expected at most 64 lowercase letters');
  expect(rooted.stderr).toContain('expected an absolute path of the sandbox');
});

test('a server that this build cannot reach is refused in one sentence', async () => {
  const { code, stderr } = await cli.run(['experiments', 'list'], { PROCTOR_URL: 'http://localhost:1' });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^proctor: PROCTOR_URL is set, and the capability server is absent[^\n]*\n$/);
});

test('a colour is written when it is forced, and never with --no-color or NO_COLOR', async () => {
  const forced = await cli.run(['--help'], { FORCE_COLOR: '1' });
  const [flag, variable] = await Promise.all([
    cli.run(['--help', '--no-color'], { FORCE_COLOR: '1' }),
    cli.run(['--help'], { FORCE_COLOR: '1', NO_COLOR: '1' }),
  ]);
  expect(forced.stdout).toContain('\u001b[');
  expect(`${flag.stdout}${variable.stdout}`).not.toContain('\u001b[');
});

test('a reader that stops reading ends nothing with a trace', async () => {
  const child = spawn(process.execPath, [PROGRAM, 'completion', 'fish'], { cwd: cli.folder, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  expect([code, stderr]).toEqual([0, '']);
});

test('a store that cannot be made is refused with what to do', async () => {
  cli.write({ file: '' });
  const { code, stderr } = await cli.run(['experiments', 'list', '--store', './file/store']);
  expect(code).toBe(2);
  expect(stderr).toContain('set PROCTOR_HOME');
  const doctor = await cli.run(['doctor', '--json', '--store', './file/store']);
  expect(doctor.code).toBe(2);
  expect(JSON.parse(doctor.stdout)).toMatchObject({ ready: false, problem: expect.stringContaining('cannot be written') });
});

test('an empty store has nothing to list, and says what makes it full', async () => {
  const [experiments, sessions, report] = await Promise.all([
    cli.run(['experiments', 'list']),
    cli.run(['sessions', 'list', '--json']),
    cli.run(['report']),
  ]);
  expect(experiments.stdout).toContain('proctor eval experiment');
  expect(JSON.parse(sessions.stdout)).toEqual([]);
  expect([report.code, report.stderr]).toEqual([2, expect.stringContaining('no experiment in this store yet')]);
});

test('doctor tells every capability and what this machine has', async () => {
  const { code, stdout } = await cli.run(['doctor', '--json'], {
    HTTPS_PROXY: 'http://me:secret@proxy:3128',
    SSL_CERT_FILE: '/nowhere.pem',
  });
  const report = JSON.parse(stdout);
  expect(code).toBe(report.ready ? 0 : 2);
  expect(report.findings.map((one: { name: string }) => one.name)).toEqual(
    expect.arrayContaining(['node', 'platform', 'memory', 'cgroups', 'user namespaces', 'bubblewrap', 'git', 'docker', 'store', 'disk']),
  );
  expect(report.findings).toContainEqual({ name: 'HTTPS_PROXY', state: 'ok', value: 'http://***@proxy:3128', fix: null });
  expect(report.findings).toContainEqual({
    name: 'SSL_CERT_FILE',
    state: 'warning',
    value: '/nowhere.pem does not exist',
    fix: 'unset SSL_CERT_FILE',
  });
  for (const one of report.findings) if (one.state === 'missing') expect(one.fix).toMatch(/^[^\n]+$/);
  const states = Object.fromEntries(report.capabilities.map((one: { name: string; state: string }) => [one.name, one.state]));
  expect(states).toMatchObject({ lanes: 'on', verifier_grader: 'on', budgets: 'absent', rubric_grader: 'absent', server: 'absent' });
});

test('a capability that configuration switched off is told as off', async () => {
  const { stdout } = await cli.run(['doctor', '--json'], { PROCTOR_CAPABILITIES_OFF: 'deliverables' });
  expect(JSON.parse(stdout).capabilities).toContainEqual({ name: 'deliverables', state: 'off', reason: 'switched off by configuration' });
});

describe('completion', () => {
  const bash = (script: string, line: string) =>
    spawnSync(
      'bash',
      [
        '--norc',
        '-c',
        `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _proctor; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      { encoding: 'utf8' },
    );

  test.for<[string, string[]]>([
    ['proctor ev', ['eval']],
    ['proctor eval e', ['experiment']],
    ['proctor eval experiment --max-', ['--max-attempts', '--max-iterations']],
    ['proctor eval experiment x --feedback ""', ['none', 'summary', 'full']],
    ['proctor sessions ""', ['list', 'show', 'events', 'verify', 'files', 'cat', 'diff', 'close']],
    ['proctor completion ""', ['bash', 'zsh', 'fish']],
    ['proctor jan', ['']],
  ])('bash completes %s', async ([line, words]) => {
    const { stdout } = await cli.run(['completion', 'bash']);
    expect(bash(stdout, line)).toMatchObject({ stderr: '', stdout: `${words.join('\n')}\n` });
  });

  test.for(['zsh', 'fish'])('the script of %s is one that it reads', async (shell, { skip }) => {
    if (spawnSync(shell, ['--version']).error !== undefined) skip(`${shell} is not installed`);
    cli.write({ script: (await cli.run(['completion', shell])).stdout });
    expect(spawnSync(shell, ['-n', path.join(cli.folder, 'script')], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  test('an unknown shell is refused', async () => {
    expect(await cli.run(['completion', 'tcsh'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('expected bash, zsh or fish'),
    });
  });
});
