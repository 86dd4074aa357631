import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askedExperiment, lanesOf, movedTo } from './experiment-settings.ts';
import { Given } from './given.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'proctor-settings-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const given = (values: Record<string, unknown>) => new Given(values, null);

test('lanes without a label are named for what they run, each by a name of its own', () => {
  expect(
    lanesOf([
      'oracle',
      'command:./my_Agent.sh',
      'command:["./run.sh","--x=y"]',
      './agents/half-done',
      'other/half-done',
      'a=nop',
      'model:x=1',
    ]),
  ).toEqual({
    oracle: 'oracle',
    'my-agent': 'command:./my_Agent.sh',
    run: 'command:["./run.sh","--x=y"]',
    'half-done': './agents/half-done',
    'half-done-2': 'other/half-done',
    a: 'nop',
    'x-1': 'model:x=1',
  });
});

test.for([
  [['My=oracle'], 'expected a label of lowercase letters'],
  [[`${'a'.repeat(33)}=oracle`], 'at most 32'],
  [['a=oracle', 'a=nop'], 'two lanes have the label a'],
  [['a='], 'expected an agent after the ='],
] as const)('%j is no set of lanes', ([values, message]) => {
  expect(() => lanesOf(values)).toThrow(message);
});

test('a flag outranks the file, and what the file alone says holds', async () => {
  const file = join(folder, 'proctor.toml');
  writeFileSync(
    file,
    'tasks = "./tasks"\nrepeat = 5\n[lanes]\nmine = "nop"\n[environment]\nsandbox = "docker"\nnetwork = "none"\n[settings]\nlimit = 3\nmax_attempts = 4\n',
  );
  const asked = await askedExperiment([file], given({ repeat: 2, sandbox: 'local', limit: 1, agent: ['oracle'] }));
  expect(asked).toEqual({
    tasks: './tasks',
    repeat: 2,
    lanes: { oracle: 'oracle' },
    environment: { sandbox: 'local', network: 'none' },
    settings: { limit: 1, max_attempts: 4 },
    directory: folder,
  });
});

test('an experiment moved to another folder keeps its paths', async () => {
  mkdirSync(join(folder, 'tasks'));
  mkdirSync(join(folder, 'conf'));
  const file = join(folder, 'proctor.toml');
  writeFileSync(
    file,
    'tasks = ["tasks", "https://example.org/x.git@abc"]\n[lanes]\na = "command:./a.sh"\nb = \'command:["./b.sh", "./x"]\'\nc = "../c"\nd = "oracle"\n',
  );
  const asked = await askedExperiment([file], given({}));
  expect(movedTo(join(folder, 'conf'), asked)).toMatchObject({
    tasks: ['../tasks', 'https://example.org/x.git@abc'],
    lanes: { a: 'command:../a.sh', b: 'command:["../b.sh","./x"]', c: '../../c', d: 'oracle' },
  });
});

test.for([
  [{ budget: '5usd' }, 'capability_not_enabled', 'budgets'],
  [{ grader: 'both' }, 'grader_unavailable', 'rubric grader'],
  [{ graderModel: 'm' }, 'grader_unavailable', 'rubric grader'],
  [{ network: 'gateway' }, 'capability_not_enabled', 'gateway'],
  [{ network: 'allowlist' }, 'capability_not_enabled', 'allowlist'],
  [{ network: 'privat' }, 'usage', 'expected none or public'],
  [{ imageTemplate: 'x/{name}' }, 'usage', 'found {name}'],
] as const)('%j is refused before anything is read', async ([values, code, message]) => {
  await expect(askedExperiment(['/nowhere'], given(values))).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});

test('a task file is not taken for an experiment, and a missing one is told how to make it', async () => {
  writeFileSync(join(folder, 'task.toml'), '');
  await expect(askedExperiment([join(folder, 'task.toml')], given({}))).rejects.toThrow('expected its folder');
  await expect(askedExperiment([join(folder, 'none.toml')], given({}))).rejects.toThrow('--write-config');
});
