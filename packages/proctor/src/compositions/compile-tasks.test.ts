import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { formats } from '../formats/index.ts';
import { sources } from '../sources/index.ts';
import { compileTasks } from './compile-tasks.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'compile-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const parts = { formats, sources, scratch };
const MINIMAL = '[environment]\nimage = "a"\n[verifier]\ncommand = ["true"]\n';

function set(name: string, tasks: Record<string, string>): string {
  for (const [task, toml] of Object.entries(tasks)) {
    const folder = path.join(scratch, name, task);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'task.toml'), toml);
    writeFileSync(path.join(folder, 'instruction.md'), 'Do it.\n');
  }
  return path.join(scratch, name);
}

test('one bad task hides no other, and each has every issue', async () => {
  const folder = set('mixed', { good: MINIMAL, bad: `max_iterations = 0\n${MINIMAL}cpus = "x"\n`, worse: '[' });
  mkdirSync(path.join(folder, 'lost'));
  writeFileSync(path.join(folder, 'lost', 'instruction.md'), 'x');
  const { compiled, refused, rejected } = await compileTasks(folder, parts);
  expect(compiled.map((one) => [one.task.name, one.path])).toEqual([['good', path.join(folder, 'good')]]);
  expect(refused.map((one) => [one.name, one.issues.filter((issue) => issue.severity === 'error').length])).toEqual([
    ['bad', 1],
    ['worse', 1],
  ]);
  expect(refused[0]?.issues[0]?.place).toEqual({ file: 'task.toml', line: 1, column: 1 });
  expect(rejected.map((one) => path.basename(one.path))).toEqual(['lost']);
});

test('order and digests are the same every time', async () => {
  const folder = set('order', { 'b/2': MINIMAL, 'b/10': MINIMAL, a: MINIMAL, 'B/x': MINIMAL });
  const first = await compileTasks(folder, parts);
  expect(first.compiled.map((one) => path.relative(folder, one.path))).toEqual(['B/x', 'a', 'b/10', 'b/2']);
  expect(await compileTasks(folder, parts)).toEqual(first);
});

test('of two tasks with one name the later is refused', async () => {
  const folder = set('twice', { a: `name = "same"\n${MINIMAL}`, b: `name = "same"\n${MINIMAL}` });
  const { compiled, refused } = await compileTasks(folder, parts);
  expect(compiled.map((one) => path.basename(one.path))).toEqual(['a']);
  expect(refused.map((one) => path.basename(one.path))).toEqual(['b']);
});

test('the format can be forced, and an unknown one is a usage error', async () => {
  const folder = set('forced', { a: MINIMAL });
  expect((await compileTasks(folder, parts, { format: 'harbor' })).compiled).toHaveLength(1);
  await expect(compileTasks(folder, parts, { format: 'toString' })).rejects.toMatchObject({ code: 'usage' });
});

test('nothing there, and nothing found there, are errors of their own', async () => {
  await expect(compileTasks(path.join(scratch, 'no such folder'), parts)).rejects.toMatchObject({ code: 'not_found' });
  mkdirSync(path.join(scratch, 'empty'));
  await expect(compileTasks(path.join(scratch, 'empty'), parts)).rejects.toMatchObject({ code: 'no_tasks' });
});

test('a file that is no task file holds no tasks', async () => {
  const file = path.join(scratch, 'notes.txt');
  writeFileSync(file, '');
  await expect(compileTasks(file, parts)).rejects.toMatchObject({ code: 'no_tasks' });
});
