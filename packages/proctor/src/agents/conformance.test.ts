import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AgentKind, ResolveContext } from '../agent.ts';
import { type AgentSpec, AgentSpecSchema } from '../domain/agent-version.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { Task } from '../domain/task.ts';
import { keepFiles, keptFilesFolder } from '../system/kept-files.ts';
import { agents } from './index.ts';

let directory: string;
let home: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'agents-'));
  home = path.join(directory, 'home');
  await writeFile(path.join(directory, 'agent.sh'), '#!/bin/sh\necho done\n');
  await writeFile(
    path.join(directory, 'driver.js'),
    "export const version = '1.2';\nexport const agent = { speaks: { kind: 'driver', drive: async () => ({ kind: 'completed' }) } };\n",
  );
  await mkdir(path.join(directory, 'folder'));
  await writeFile(path.join(directory, 'folder', 'agent.toml'), 'command = ["./run.sh"]\n');
  await writeFile(path.join(directory, 'folder', 'run.sh'), '#!/bin/sh\n');
  await chmod(path.join(directory, 'folder', 'run.sh'), 0o755);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** One value for each kind of the table: a newcomer adds a line here. */
const examples: Record<keyof typeof agents, string> = {
  oracle: '',
  nop: '',
  command: './agent.sh',
  folder: './folder',
  module: './driver.js',
};

describe.each(Object.entries<AgentKind>(agents))('%s', (name, kind) => {
  const rest = examples[name as keyof typeof agents];

  test('says in a line what it is', () => {
    expect(kind.summary).toMatch(/^\S.{10,200}$/);
  });

  test('resolves to a spec of its own name that survives being stored', async () => {
    const spec = await kind.resolve(rest, context(['GRANTED']));
    expect(spec.kind).toBe(name);
    expect(AgentSpecSchema.parse(JSON.parse(canonicalJson(spec)))).toEqual(spec);
  });

  test('resolves to the same digest twice, and to another when a variable is granted', async () => {
    const texts = [
      await kind.resolve(rest, context([])),
      await kind.resolve(rest, context([])),
      await kind.resolve(rest, context(['GRANTED'])),
    ].map(canonicalJson);
    expect(texts[1]).toBe(texts[0]);
    if (name !== 'nop') expect(texts[2]).not.toBe(texts[0]);
  });

  test('keeps a copy of every file of its spec', async () => {
    const spec = await kind.resolve(rest, context([]));
    const digest = spec.settings.files_digest;
    for (const file of spec.files)
      expect((await readFile(path.join(keptFilesFolder(home, String(digest)), file.path))).byteLength).toBe(file.bytes);
  });

  test('reads of the host only what it was granted, and marks it to be redacted', async () => {
    const agent = await make(kind, await kind.resolve(rest, context(['GRANTED'])), { GRANTED: 'value-1', SECRET: 'value-2' });
    expect(JSON.stringify(agent)).not.toContain('value-2');
    if (name !== 'nop') expect(agent).toMatchObject({ environment: { GRANTED: 'value-1' }, redact: ['value-1'] });
  });

  test('refuses a granted variable that the host does not have', async () => {
    if (name === 'nop') return;
    const spec = await kind.resolve(rest, context(['GRANTED']));
    await expect(make(kind, spec, {})).rejects.toThrow(/GRANTED, and it is not set/);
  });

  test.each(['not a name', 'NAME=value', 'PROCTOR_TESTS'])('refuses to pass %j in', async (variable) => {
    if (name === 'nop') return;
    await expect(kind.resolve(rest, context([variable]))).rejects.toMatchObject({ code: 'invalid_configuration' });
  });

  test('is driven by an argv or by a driver', async () => {
    const { speaks } = await make(kind, await kind.resolve(rest, context([])), {});
    if (speaks.kind === 'command') expect(speaks.argv.length).toBeGreaterThan(0);
    else expect(speaks.drive).toBeTypeOf('function');
  });
});

function context(environmentNames: string[]): ResolveContext {
  return {
    directory,
    environmentNames,
    keepFiles: (files, options) => keepFiles(home, files, options),
    filesFor: (digest) => keptFilesFolder(home, digest),
  };
}

function make(kind: AgentKind, spec: AgentSpec, hostEnvironment: Record<string, string>) {
  return kind.make(spec, { task, hostEnvironment, filesFor: (digest) => keptFilesFolder(home, digest) });
}

const task = {
  name: 'sample',
  solution: { argv: ['/solution/solve.sh'], files: { root: '/nowhere', digest: 'd', bytes: 0, files: [] }, target: '/solution', env: {} },
} as unknown as Task;
