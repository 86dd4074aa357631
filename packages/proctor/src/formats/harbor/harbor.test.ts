import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { formatIssue } from '../../domain/issue.ts';
import { HostTaskFolder } from '../../sources/task-folder.ts';
import type { CompileOptions, CompileResult } from '../../task-format.ts';
import { harbor } from './harbor.ts';

const root = path.join(import.meta.dirname, '..', '..', '..', '..', '..');
const corpus = path.join(root, '..', 'shared', 'corpus', 'harbor');
const scratch = mkdtempSync(path.join(tmpdir(), 'harbor-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

type Content = string | { base64: string } | { link: string } | { directory: true };
const WHOLE: Record<string, Content> = {
  'task.toml': '',
  'instruction.md': 'Do it.\n',
  'environment/Dockerfile': 'FROM scratch\n',
  'tests/test.sh': '#!/bin/sh\n',
};
let made = 0;

function folderOf(files: Record<string, Content>): string {
  made += 1;
  const folder = path.join(scratch, `task-${made}`, 'task');
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (typeof content === 'string') writeFileSync(file, content);
    else if ('base64' in content) writeFileSync(file, Buffer.from(content.base64, 'base64'));
    else if ('link' in content) symlinkSync(content.link, file);
    else mkdirSync(file);
  }
  return folder;
}

const OPTIONS: CompileOptions = { strictFiles: false, materializeLinks: false, maxTaskBytes: 64 * 1024 * 1024 };
const compileAt = (folder: string, options: Partial<CompileOptions> = {}) =>
  harbor.compile(new HostTaskFolder(folder), { ...OPTIONS, ...options });
const compile = (files: Record<string, Content>, options: Partial<CompileOptions> = {}) =>
  compileAt(folderOf({ ...WHOLE, ...files }), options);

function errorsOf(result: CompileResult): string[] {
  const issues = result.kind === 'compiled' ? result.warnings : result.issues;
  return issues.filter((issue) => issue.severity === 'error').map(formatIssue);
}

describe('files', () => {
  test.each<[string, Record<string, Content>, string]>([
    [
      'task.toml is a directory',
      { 'task.toml': { directory: true } },
      'task.toml: the wrong kind of file (expected a regular file, found a directory)',
    ],
    [
      'task.toml is not UTF-8',
      { 'task.toml': { base64: 'IyDp' } },
      'task.toml: the file is not text (expected valid UTF-8, found other bytes)',
    ],
    [
      'instruction.md is not UTF-8',
      { 'instruction.md': { base64: '6Q==' } },
      'instruction.md: the file is not text (expected valid UTF-8, found other bytes)',
    ],
    [
      'instruction.md is a link',
      { 'instruction.md': { link: 'task.toml' } },
      'instruction.md: links are refused (expected a regular file, found a symbolic link)',
    ],
    [
      'instruction.md is too large',
      { 'instruction.md': 'x'.repeat(1024 * 1024 + 1) },
      'instruction.md: the file is too large (expected at most 1 MiB, found 1048577 bytes)',
    ],
    [
      'test.sh is not UTF-8',
      { 'tests/test.sh': { base64: '6Q==' } },
      'tests/test.sh: the entry file of a verifier must be text (expected valid UTF-8 of at most 1 MiB, found 1 bytes)',
    ],
    ['a test is a link', { 'tests/x': { link: 'test.sh' } }, 'tests/x: links are refused'],
    ['a context file is a link', { 'environment/x': { link: 'Dockerfile' } }, 'environment/x: links are refused'],
  ])('%s: refused with path and reason', async (_, files, message) => {
    const errors = errorsOf(await compile(files));
    expect(
      errors.some((error) => error.startsWith(message)),
      errors.join('\n'),
    ).toBe(true);
  });

  test('a file that cannot be used is not called missing, too', async () => {
    expect(errorsOf(await compile({ 'instruction.md': { base64: '6Q==' } }))).toEqual([
      'instruction.md: the file is not text (expected valid UTF-8, found other bytes)',
    ]);
    const folder = folderOf({ 'task.toml': '', 'instruction.md': 'Do it.\n', 'environment/Dockerfile': 'FROM scratch\n' });
    symlinkSync('environment', path.join(folder, 'tests'));
    expect(errorsOf(await compileAt(folder))).toEqual([
      'tests: links are refused (expected a regular file, found a symbolic link). Copy the file, or pass --materialize-links',
    ]);
  });

  test('a FIFO among the tests is refused, and nobody waits for it', async () => {
    const folder = folderOf(WHOLE);
    execFileSync('mkfifo', [path.join(folder, 'tests', 'pipe')]);
    expect(errorsOf(await compileAt(folder))).toEqual(['tests/pipe: the wrong kind of file (expected a regular file, found a FIFO)']);
  });

  test('a binary test file is an asset, and an error under strict files', async () => {
    const files = { 'tests/data.bin': { base64: '/w==' } };
    const result = await compile(files);
    expect(result.kind === 'compiled' && result.task.verifier?.files?.files.map((file) => [file.path, file.asset])).toEqual([
      ['data.bin', true],
      ['test.sh', false],
    ]);
    expect(errorsOf(await compile(files, { strictFiles: true }))).toEqual([
      'tests/data.bin: not a text file (expected valid UTF-8 of at most 1 MiB, found 1 bytes)',
    ]);
  });

  test('the total bounds all but the build context', async () => {
    expect(errorsOf(await compile({ 'tests/large': 'x'.repeat(2000) }, { maxTaskBytes: 1000 }))).toHaveLength(1);
    expect((await compile({ 'environment/large': 'x'.repeat(2000) }, { maxTaskBytes: 1000 })).kind).toBe('compiled');
  });

  test('links inside the task are materialized on request, instruction and entry file too', async () => {
    const files: Record<string, Content> = {
      'shared/test.sh': '#!/bin/sh\n',
      'shared/prompt.md': 'Do it.\n',
      'tests/test.sh': { link: '../shared/test.sh' },
      'instruction.md': { link: 'shared/prompt.md' },
    };
    const result = await compile(files, { materializeLinks: true });
    const plain = await compile({});
    expect(result.kind === 'compiled' && result.task.digest).toBe(plain.kind === 'compiled' && plain.task.digest);
  });

  test('.harborignore leaves files out of tests/ and solution/, itself included', async () => {
    const result = await compile({
      'tests/.harborignore': '*.tmp\n',
      'tests/a.tmp': '',
      'tests/b/.harborignore': '!c.tmp',
      'tests/b/c.tmp': '',
      '.harborignore': '*',
    });
    expect(result.kind === 'compiled' && result.task.verifier?.files?.files.map((file) => file.path)).toEqual(['b/c.tmp', 'test.sh']);
  });
});

describe('complaints', () => {
  test('carry line and column of the key, what was expected and what was found', async () => {
    const toml = '[agent]\ntimeout_sec = "ten"\n\n[environment]\n  cpus = [2]\nmemroy_mb = 5\n';
    const result = await compile({ 'task.toml': toml });
    expect(result.kind === 'refused' && result.issues.map(formatIssue)).toEqual([
      'task.toml:2:1: agent.timeout_sec: wrong value (expected seconds, such as 600, found a string "ten")',
      'task.toml:5:3: environment.cpus: wrong value (expected a number of CPUs, found an array of 1)',
      'task.toml:6:1: environment.memroy_mb: unknown key, ignored. Did you mean memory_mb?',
    ]);
  });

  test('a syntax error has its place', async () => {
    expect(errorsOf(await compile({ 'task.toml': 'a = 1\nb = \n' }))).toEqual(['task.toml:2:5: invalid value (expected valid TOML)']);
  });

  test('a key under the wrong table is told where it belongs', async () => {
    const result = await compile({ 'task.toml': '[agent]\nartifacts = ["/a"]\n' });
    expect(result.kind === 'compiled' && result.warnings.map(formatIssue)).toEqual([
      'task.toml:2:1: agent.artifacts: unknown key, ignored. It belongs at the root, before the first table',
    ]);
  });
});

type Call = {
  function: string;
  input: { about: string; files: Record<string, Content>; disable_verification?: boolean };
  output?: unknown;
};
const calls = (JSON.parse(readFileSync(path.join(root, 'fixtures', 'harbor-parse', 'functions.json'), 'utf8')) as Call[]).filter(
  (call) => call.function === 'is_task_folder' && call.input.disable_verification === false,
);
/** Folders that Harbor runs and this build refuses → the row of the differences page, or the capability, that says so. */
const REFUSED_HERE: Record<string, string> = {
  'instruction.md is a folder': 'text-files',
  'a test link inside': 'links',
  'Windows task': 'windows',
  'no tests, separate verifier with an image': 'separate_verifier',
  'tests/Dockerfile, separate verifier': 'separate_verifier',
  steps: 'multi_step',
  'steps, own tests': 'multi_step',
  'steps and a root instruction': 'multi_step',
};

describe('a folder is a task where it is one for Harbor, but for what is named', () => {
  const page = readFileSync(path.join(root, 'docs', 'harbor-differences.md'), 'utf8');

  test.each(calls.map((call) => [call.input.about, call] as const))('%s', async (about, call) => {
    const result = await compileAt(folderOf(call.input.files));
    const row = REFUSED_HERE[about];
    if (row !== undefined) expect(page).toContain(`\`${row}\``);
    expect(result.kind, errorsOf(result).join('\n')).toBe(call.output === true && row === undefined ? 'compiled' : 'refused');
  });
});

const hasCorpus = existsSync(corpus);
describe.skipIf(!hasCorpus)(`real files${hasCorpus ? '' : ' (skipped: the corpus lies outside this repository and is not there)'}`, () => {
  test.each(hasCorpus ? readdirSync(corpus) : [])('%s compiles or is refused with file and reason', async (slug) => {
    const result = await compileAt(path.join(corpus, slug));
    const issues = result.kind === 'compiled' ? result.warnings : result.issues;
    if (result.kind === 'refused') expect(errorsOf(result)).not.toEqual([]);
    for (const issue of issues) {
      expect(issue.place?.file).toBeTruthy();
      if (issue.path !== '') expect(issue.place?.line, formatIssue(issue)).not.toBeNull();
    }
  });
});
