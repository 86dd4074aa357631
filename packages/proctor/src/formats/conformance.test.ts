import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { HostTaskFolder } from '../sources/task-folder.ts';
import type { CompileOptions, CompileResult, TaskFormat } from '../task-format.ts';
import { formats } from './index.ts';

const fixtures = path.join(import.meta.dirname, '..', '..', '..', '..', 'fixtures', 'tasks');
const scratch = mkdtempSync(path.join(tmpdir(), 'formats-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const OPTIONS: CompileOptions = { strictFiles: false, materializeLinks: false, maxTaskBytes: 64 * 1024 * 1024 };
const compile = (format: TaskFormat, folder: string, options = OPTIONS) => format.compile(new HostTaskFolder(folder), options);

describe.each(Object.entries(formats))('%s', (name, format: TaskFormat) => {
  const folders = readdirSync(path.join(fixtures, name)).map((folder) => path.join(fixtures, name, folder));

  test('has a fixture, a summary and a marker that is a file name', () => {
    expect(folders.length).toBeGreaterThan(0);
    expect(format.summary).not.toBe('');
    expect(path.basename(format.marker)).toBe(format.marker);
  });

  test.each(folders)('%s compiles into a Task that survives JSON', async (folder) => {
    const { task, account } = compiled(await compile(format, folder));
    expect(JSON.parse(JSON.stringify(task))).toEqual(task);
    expect(task.format).toBe(name);
    expect(task.provenance.path).toBe(folder);
    expect(task.instruction).not.toBe('');
    expect(new Set(account.map((entry) => entry.path)).size).toBe(account.length);
    for (const entry of account) if (entry.fate !== 'taken') expect(entry.reason, entry.path).toBeTruthy();
  });

  test.each(folders)('the digest of %s is that of its content and modes, wherever it lies', async (folder) => {
    const first = compiled(await compile(format, folder)).task;
    const copy = path.join(scratch, `${name}-copy`, path.basename(folder));
    cpSync(folder, copy, { recursive: true });
    const second = compiled(await compile(format, copy)).task;
    expect(second.digest).toBe(first.digest);
    const verifierFile = first.verifier?.files?.files[0];
    const target = path.join(copy, 'tests', verifierFile?.path ?? '');
    chmodSync(target, 0o600);
    const changedMode = compiled(await compile(format, copy)).task;
    expect(changedMode.digest).not.toBe(first.digest);
    chmodSync(target, verifierFile?.mode ?? 0o644);
    writeFileSync(path.join(copy, 'instruction.md'), 'Another instruction.\n');
    expect(compiled(await compile(format, copy)).task.digest).not.toBe(first.digest);
  });

  test('an empty folder is refused with an issue', async () => {
    const folder = path.join(scratch, `${name}-empty`);
    mkdirSync(folder);
    const result = await compile(format, folder);
    expect(result.kind === 'refused' && result.issues.length).toBeTruthy();
  });

  test('a marker of any text gives a result, never an exception', async () => {
    const folder = path.join(scratch, `${name}-any`);
    mkdirSync(folder);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        writeFileSync(path.join(folder, format.marker), text);
        expect(['compiled', 'refused']).toContain((await compile(format, folder)).kind);
      }),
      { numRuns: 150 },
    );
  });
});

function compiled(result: CompileResult): CompileResult & { kind: 'compiled' } {
  if (result.kind !== 'compiled') throw new Error(JSON.stringify(result.issues));
  return result;
}
