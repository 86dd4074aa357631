import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SANDBOXES } from '../../src/sandboxes/index.ts';

const root = path.join(import.meta.dirname, '..', '..', '..', '..');
/** The local sandbox where this host has it, else plain processes. */
const sandbox = await chooseSandbox();
const scratch = mkdtempSync(path.join(os.tmpdir(), 'proctor-agents-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

type Sessions = { sessions: Record<string, unknown>[] };

describe('the example agents', () => {
  const report = () =>
    experiment('examples/tasks/anywhere', [
      'half-done=./examples/agents/half-done',
      'greeter=command:./examples/agents/greeter.sh',
      'outside=./examples/agents/outside/agent.ts',
    ]);
  let sessions: Sessions['sessions'] | null = null;
  const of = (lane: string, task: string) => {
    sessions ??= report().sessions;
    return sessions.find((session) => session.lane === lane && session.task === `examples/${task}`);
  };

  test('a folder agent solves what it has a trick for', () => {
    expect(of('half-done', 'first-file')).toMatchObject({ trial_result: 'passed', reward: 1 });
  });

  test('three of four right answers are partial, which is not passed', () => {
    expect(of('half-done', 'log-report')).toMatchObject({ trial_result: 'partial', reward: 0.75, verdict: 'needs_revision' });
  });

  test('the names of failed checks are what a second attempt is corrected by', () => {
    expect(of('half-done', 'calibrate')).toMatchObject({ trial_result: 'passed', iterations: 2, max_iterations: 2 });
  });

  test('an agent that gives up is still judged by the check', () => {
    expect(of('half-done', 'checker-image')).toMatchObject({ trial_result: 'failed', reward: 0, attribution: 'agent' });
  });

  test('a script and a driver from outside do what they say', () => {
    expect(of('greeter', 'first-file')).toMatchObject({ trial_result: 'passed' });
    expect(of('outside', 'first-file')).toMatchObject({ trial_result: 'passed', tool_calls: 1 });
    expect(of('outside', 'fix-the-ledger')).toMatchObject({ trial_result: 'failed', attribution: 'agent' });
  });
});

test('the value of a granted variable is nowhere in the store, however the agent spells it', () => {
  const secret = 'correct-horse-battery-staple';
  const says =
    'echo "plain $TOKEN"; printf %s "$TOKEN" | base64; printf %s "$TOKEN" | od -An -v -tx1 | tr -d " \\n"; echo "$TOKEN" > token.txt; printf "$TOKEN" | cut -c1-14; echo "Hello from the sandbox" > greeting.txt';
  const { sessions } = experiment(
    'examples/tasks/anywhere/first-file',
    [`command:${JSON.stringify(['sh', '-c', says])}`],
    ['--agent-env', 'TOKEN'],
    { TOKEN: secret, PROCTOR_HOME: path.join(scratch, 'secret') },
  );
  expect(sessions).toMatchObject([{ trial_result: 'passed' }]);
  const kept = readdirSync(path.join(scratch, 'secret'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(kept.length).toBeGreaterThan(0);
  const spellings = [secret, Buffer.from(secret).toString('base64').slice(0, 36), Buffer.from(secret).toString('hex')];
  const leaks = kept
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => spellings.some((spelling) => readFileSync(file).includes(spelling)));
  expect(leaks).toEqual([]);
});

test('a variable that the host does not have is refused before anything runs', () => {
  const { status, stderr } = run('examples/tasks/anywhere/first-file', ['nop', 'command:["true"]'], ['--agent-env', 'NOT_SET_HERE']);
  expect(status).toBe(2);
  expect(stderr).toContain('NOT_SET_HERE');
});

test('a changed agent runs again, an unchanged one is reused', () => {
  const folder = mkdtempSync(path.join(scratch, 'agent-'));
  const write = (text: string) =>
    execFileSync('sh', ['-c', `cat > agent.sh; chmod +x agent.sh`], { cwd: folder, input: `#!/bin/sh\n${text}\n` });
  const go = () =>
    experiment('examples/tasks/anywhere/first-file', [`mine=command:${folder}/agent.sh`], []).sessions.map(
      (session) => `${session.trial_result} ${session.session_id}`,
    );
  write('true');
  const first = go();
  expect(first[0]).toMatch(/^failed /);
  expect(go()).toEqual(first);
  write('echo "Hello from the sandbox" > "$PROCTOR_WORKDIR/greeting.txt"');
  expect(go()[0]).toMatch(/^passed /);
});

async function chooseSandbox(): Promise<string[]> {
  await using local = SANDBOXES.local({ environment: process.env, directory: path.join(os.tmpdir(), 'proctor-agents-probe') });
  return (await local.unusable()) === null ? ['--sandbox', 'local'] : ['--isolation', 'none'];
}

function experiment(tasks: string, agents: string[], flags: string[] = [], env: Record<string, string> = {}): Sessions {
  const { stdout, stderr } = run(tasks, agents, ['--json', ...flags], env);
  const report = stdout.startsWith('{') ? JSON.parse(stdout) : null;
  if (report?.sessions === undefined) throw new Error(`expected a report as JSON, found ${stdout} ${stderr}`);
  return report;
}

function run(tasks: string, agents: string[], flags: string[], env: Record<string, string> = {}) {
  const argv = ['eval', 'experiment', tasks, ...agents.flatMap((agent) => ['--agent', agent]), ...sandbox, ...flags];
  return spawnSync(process.execPath, [path.join(root, 'scripts', 'dev.ts'), ...argv], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: scratch, PROCTOR_HOME: path.join(scratch, 'home'), ...env },
  });
}
