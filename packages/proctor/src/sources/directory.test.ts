import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { formatIssue } from '../domain/issue.ts';
import { directory } from './directory.ts';
import { HostTaskFolder } from './task-folder.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'directory-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const MARKERS = { markers: ['task.toml'], scratch };
const PLAIN = { materializeLinks: false };

function folderOf(name: string, files: Record<string, string | Uint8Array>): string {
  const folder = path.join(scratch, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), content);
  }
  return folder;
}

test('a task folder is not searched for tasks inside it', async () => {
  const folder = folderOf('nested', { 'task.toml': '', 'environment/task.toml': '' });
  expect((await directory.discover(folder, MARKERS)).map((found) => found.folder.root)).toEqual([folder]);
});

test('the task file itself names its folder', async () => {
  const folder = folderOf('by-file', { 'task.toml': '' });
  expect((await directory.discover(path.join(folder, 'task.toml'), MARKERS)).map((found) => found.folder.root)).toEqual([folder]);
});

test('what looks like a task and is none is said, with the reason', async () => {
  const folder = folderOf('odd', { 'one/task.toml': '', 'two/instruction.md': 'x', 'plain/readme.md': '', '.git/task.toml': '' });
  symlinkSync(path.join(folder, 'one'), path.join(folder, 'linked'));
  symlinkSync('nowhere', path.join(folder, 'broken'));
  const rejected: { path: string; reason: string }[] = [];
  const found = await directory.discover(folder, { ...MARKERS, onRejected: (candidate) => rejected.push(candidate) });
  expect(found.map((one) => one.folder.name)).toEqual(['one']);
  expect(rejected).toEqual([
    { path: path.join(folder, 'linked'), reason: 'it is a link, and links are not followed: name its target' },
    { path: path.join(folder, 'two'), reason: 'it has instruction.md and no task.toml' },
  ]);
});

test('a marker that is a directory or a FIFO is found, so that compiling can refuse it', async () => {
  const folder = folderOf('markers', { 'one/task.toml/x': '', 'two/keep': '' });
  execFileSync('mkfifo', [path.join(folder, 'two', 'task.toml')]);
  const found = await directory.discover(folder, MARKERS);
  const read = await Promise.all(found.map((one) => one.folder.readText('task.toml')));
  expect(read.map((one) => (one !== null && 'issue' in one ? formatIssue(one.issue) : one))).toEqual([
    'task.toml: the wrong kind of file (expected a regular file, found a directory)',
    'task.toml: the wrong kind of file (expected a regular file, found a FIFO)',
  ]);
});

test('a tree holds every regular file, sorted, with hash, mode and size', async () => {
  const content = new Uint8Array(3 * 1024 * 1024 + 7).fill(65);
  const folder = folderOf('tree', {
    'tests/b.sh': 'echo\n',
    'tests/a/x': '',
    'tests/large.txt': content,
    'tests/binary': new Uint8Array([255, 254]),
  });
  chmodSync(path.join(folder, 'tests', 'b.sh'), 0o755);
  chmodSync(path.join(folder, 'tests', 'a', 'x'), 0o640);
  for (const name of ['binary', 'large.txt']) chmodSync(path.join(folder, 'tests', name), 0o644);
  const read = await new HostTaskFolder(folder).readTree('tests', PLAIN);
  expect(read?.issues).toEqual([]);
  expect(read?.tree.files.map((file) => [file.path, file.bytes, file.mode.toString(8), file.asset])).toEqual([
    ['a/x', 0, '640', false],
    ['b.sh', 5, '755', false],
    ['binary', 2, '644', true],
    ['large.txt', content.length, '644', true],
  ]);
  expect(read?.tree.files[3]?.sha256).toBe(createHash('sha256').update(content).digest('hex'));
  expect(read?.tree.bytes).toBe(content.length + 7);
});

test('links and FIFOs in a tree are issues with their path', async () => {
  const folder = folderOf('links', { 'tests/real': 'x' });
  symlinkSync('real', path.join(folder, 'tests', 'link'));
  execFileSync('mkfifo', [path.join(folder, 'tests', 'pipe')]);
  const read = await new HostTaskFolder(folder).readTree('tests', PLAIN);
  expect(read?.tree.files.map((file) => file.path)).toEqual(['real']);
  expect(read?.issues.map(formatIssue).sort()).toEqual([
    'tests/link: links are refused (expected a regular file, found a symbolic link). Copy the file, or pass --materialize-links',
    'tests/pipe: the wrong kind of file (expected a regular file, found a FIFO)',
  ]);
});

test.skipIf(process.platform === 'darwin')('a file whose name is no UTF-8 is refused for that, not as one that is missing', async () => {
  const folder = folderOf('names', { 'tests/real': 'x' });
  writeFileSync(Buffer.concat([Buffer.from(path.join(folder, 'tests', 'n')), Buffer.from([0xff])]), 'x');
  const read = await new HostTaskFolder(folder).readTree('tests', PLAIN);
  expect(read?.issues.map(formatIssue)).toEqual([
    'tests/n\ufffd: the name of this file is not text (expected a name in valid UTF-8, found other bytes, shown as \ufffd)',
  ]);
});

test('materialized links give the content of targets inside the task, and no other', async () => {
  const folder = folderOf('materialized', { 'shared/data': 'inside', 'tests/own': 'x' });
  symlinkSync('../shared/data', path.join(folder, 'tests', 'file'));
  symlinkSync('../shared', path.join(folder, 'tests', 'folder'));
  symlinkSync('../../tree', path.join(folder, 'tests', 'outside'));
  symlinkSync('.', path.join(folder, 'tests', 'cycle'));
  symlinkSync('nowhere', path.join(folder, 'tests', 'broken'));
  const read = await new HostTaskFolder(folder).readTree('tests', { materializeLinks: true });
  expect(read?.tree.files.map((file) => file.path)).toEqual(['file', 'folder/data', 'own']);
  const said = read?.issues.map((issue) => issue.place?.file).sort();
  expect(said).toEqual(['tests/broken', 'tests/cycle', 'tests/outside']);
});

test('text is refused when it is not UTF-8 or larger than 1 MiB, and a byte order mark is part of it', async () => {
  const folder = new HostTaskFolder(
    folderOf('text', { bad: new Uint8Array([99, 233]), large: 'x'.repeat(1024 * 1024 + 1), mark: '\uFEFFx' }),
  );
  expect(await folder.readText('bad')).toMatchObject({ issue: { message: 'the file is not text' } });
  expect(await folder.readText('large')).toMatchObject({ issue: { found: '1048577 bytes' } });
  expect(await folder.readText('mark')).toEqual({ text: '\uFEFFx' });
  expect(await folder.readText('none')).toBeNull();
});
