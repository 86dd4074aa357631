import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DriverWork, ResolveContext } from '../agent.ts';
import type { AgentSpec } from '../domain/agent-version.ts';
import type { Task } from '../domain/task.ts';
import { keepFiles, keptFilesFolder } from '../system/kept-files.ts';
import { command } from './command.ts';
import { module } from './module.ts';
import { oracle } from './oracle.ts';
import { resolveAgent, splitLabel } from './resolve-agent.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'resolve-agent-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test.each([
  ['oracle', null, 'oracle'],
  ['a=oracle', 'a', 'oracle'],
  ['my-lane-2=command:["env","A=b"]', 'my-lane-2', 'command:["env","A=b"]'],
  ['command:["env","A=b"]', null, 'command:["env","A=b"]'],
  ['./a=b', null, './a=b'],
  ['UPPER=oracle', null, 'UPPER=oracle'],
  [`${'x'.repeat(32)}=oracle`, 'x'.repeat(32), 'oracle'],
  [`${'x'.repeat(33)}=oracle`, null, `${'x'.repeat(33)}=oracle`],
])('%s has the label %s', (text, label, value) => {
  expect(splitLabel(text)).toEqual({ label, value });
});

test('an Agent id is left to be looked up', async () => {
  expect(await resolveAgent('left=agent_01ABC', context())).toEqual({ label: 'left', kind: 'id', id: 'agent_01ABC' });
});

test('a name that no kind has is refused with the names there are', async () => {
  await expect(resolveAgent('orcale', context())).rejects.toThrow(/one of oracle, nop, command, folder, module.*found "orcale"/);
  await expect(resolveAgent('./nowhere', context())).rejects.toThrow(/found nothing at .*nowhere/);
  await expect(resolveAgent('label=', context())).rejects.toThrow(/expected \[label=\]agent/);
  await expect(resolveAgent('oracle:fast', context())).rejects.toThrow(/takes nothing after its name/);
});

describe('command', () => {
  test('a path is one path, spaces included, uploaded with its bytes and mode', async () => {
    await write('my agent.sh', '#!/bin/sh\n', 0o744);
    const { spec, name } = await resolved('command:./my agent.sh');
    expect(name).toBe('my-agent');
    expect(spec.settings.argv).toEqual(['/opt/agent/my agent.sh']);
    expect(spec.files).toMatchObject([{ path: 'my agent.sh', mode: 0o755, bytes: 10 }]);
  });

  test('words after a path are not arguments', async () => {
    await write('agent.sh', '#!/bin/sh\n', 0o755);
    await expect(resolved('command:./agent.sh --fast')).rejects.toThrow(/for arguments write a JSON array/);
  });

  test('a JSON array is the argv as it stands, and uploads nothing', async () => {
    const { spec } = await resolved('command:["sh", "-c", "echo  two   spaces"]');
    expect(spec).toEqual({
      kind: 'command',
      settings: { argv: ['sh', '-c', 'echo  two   spaces'], files_digest: null },
      files: [],
      environment_names: [],
    });
  });

  test.each(['command:', 'command:[]', 'command:[1]', 'command:[""]', 'command:["a\\u0000b"]', 'command:["a"', 'command:["a"] b'])(
    '%s is refused',
    async (text) => {
      await expect(resolved(text)).rejects.toMatchObject({ code: 'invalid_configuration' });
    },
  );

  test('changing a byte or the mode changes the spec, and the trial that was frozen before keeps its bytes', async () => {
    await write('agent.sh', '#!/bin/sh\necho one\n', 0o755);
    const before = await resolved('command:./agent.sh');
    await write('agent.sh', '#!/bin/sh\necho two\n', 0o755);
    const after = await resolved('command:./agent.sh');
    expect(after.spec).not.toEqual(before.spec);
    const { files } = await command.make(before.spec, { task: null, hostEnvironment: {}, filesFor });
    expect(await readFile(path.join(files?.[0]?.tree.root ?? '', 'agent.sh'), 'utf8')).toContain('echo one');
    await write('agent.sh', '#!/bin/sh\necho two\n', 0o777);
    expect((await resolved('command:./agent.sh')).spec.files).not.toEqual(after.spec.files);
  });

  test('a directory is pointed to the folder form', async () => {
    await mkdir(path.join(directory, 'agent'));
    await expect(resolved('command:./agent')).rejects.toThrow(/pass the directory itself/);
  });

  test('a file without a kind is pointed to the command form', async () => {
    await write('agent.sh', '', 0o755);
    await expect(resolved('./agent.sh')).rejects.toThrow('command:./agent.sh');
  });
});

describe('folder', () => {
  test('uploads its files, places ./ items of argv among them, and takes setup, env and timeout', async () => {
    await write(
      'agent/agent.toml',
      'command = ["./run.sh", "./data", "./not-there", "x"]\nsetup = ["sh", "./setup.sh"]\nenv = ["B", "A"]\ntimeout = 1.5\n',
    );
    await write('agent/run.sh', '#!/bin/sh\n', 0o755);
    await write('agent/setup.sh', '');
    await write('agent/data', '');
    const { spec, name } = await resolved('./agent');
    expect(name).toBe('agent');
    expect(spec.files.map((file) => file.path)).toEqual(['data', 'run.sh', 'setup.sh']);
    expect(spec.environment_names).toEqual(['A', 'B']);
    expect(spec.settings).toMatchObject({
      argv: ['/opt/agent/run.sh', '/opt/agent/data', './not-there', 'x'],
      setup: ['sh', '/opt/agent/setup.sh'],
      time_limit_ms: 1500,
    });
  });

  test('uploads only what files names', async () => {
    await write('agent/agent.toml', 'command = ["./bin/run"]\nfiles = ["bin"]\n');
    await write('agent/bin/run', '#!/bin/sh\n', 0o755);
    await write('agent/notes.txt', '');
    expect((await resolved('./agent')).spec.files.map((file) => file.path)).toEqual(['bin/run']);
  });

  test.each([
    ['command = "./run.sh"', /command: Invalid input: expected array/],
    ['command = ["./missing.sh"]', /missing.sh is not among the uploaded files/],
    ['command = ["x"]\nfiles = ["missing"]', /found "missing", which is not there/],
    ['command = ["x"]\ncomand = ["y"]', /Keys are command, setup, files, env, timeout/],
    ['command = ["x"]\ntimeout = 0', /timeout/],
    ['command = ["x"', /agent\.toml/],
  ])('%j is refused', async (toml, message) => {
    await write('agent/agent.toml', toml);
    await expect(resolved('./agent')).rejects.toThrow(message);
  });

  test('a directory without agent.toml says what to add', async () => {
    await mkdir(path.join(directory, 'agent'));
    await expect(resolved('./agent')).rejects.toThrow(/expected an agent folder with .*agent\.toml/);
  });

  test('a link among its files is refused by path', async () => {
    await write('agent/agent.toml', 'command = ["x"]\n');
    await symlink('/etc/passwd', path.join(directory, 'agent', 'link'));
    await expect(resolved('./agent')).rejects.toThrow(/found a link: .*agent\/link/);
  });
});

describe('module', () => {
  test('its spec covers its package and its version, git-ignored files left out', async () => {
    await write('package/package.json', '{"type":"module"}');
    await write('package/.gitignore', 'secret.txt\n');
    await write('package/secret.txt', 'x');
    await write('package/src/text.js', "export const text = 'one';\n");
    await write(
      'package/src/agent.ts',
      "import { text } from './text.js';\nexport const version: string = '3';\nexport const createAgent = () => ({ environment: { TEXT: text }, speaks: { kind: 'command', argv: ['true'] } });\n",
    );
    execFileSync('git', ['init', '-q'], { cwd: path.join(directory, 'package') });
    const { spec, name } = await resolved('./package/src/agent.ts');
    expect(name).toBe('agent');
    expect(spec.settings).toMatchObject({ entry: 'src/agent.ts', version: '3' });
    expect(spec.files.map((file) => file.path)).toEqual(['.gitignore', 'package.json', 'src/agent.ts', 'src/text.js']);
    await write('package/src/text.js', "export const text = 'two';\n");
    expect((await resolved('./package/src/agent.ts')).spec).not.toEqual(spec);
    expect(await made(spec)).toMatchObject({ environment: { TEXT: 'one' } });
  });

  test('a file without a package.json around it is frozen alone', async () => {
    await write('driver.mjs', "export default { speaks: { kind: 'driver', drive: async () => ({ kind: 'completed' }) } };\n");
    await write('other.txt', '');
    const { spec } = await resolved('./driver.mjs');
    expect(spec.files.map((file) => file.path)).toEqual(['driver.mjs']);
  });

  test('imports from the node_modules beside the original are found, and are no part of the spec', async () => {
    await write('package/package.json', '{"type":"module"}');
    await write('package/node_modules/greet/package.json', '{"type":"module","exports":"./index.js"}');
    await write('package/node_modules/greet/index.js', "export const greeting = 'hello';\n");
    await write(
      'package/agent.js',
      "import { greeting } from 'greet';\nexport const agent = { environment: { greeting }, speaks: { kind: 'command', argv: ['true'] } };\n",
    );
    const { spec } = await resolved('./package/agent.js');
    expect(spec.files.map((file) => file.path)).toEqual(['agent.js', 'package.json']);
    expect(await made(spec)).toMatchObject({ environment: { greeting: 'hello' } });
  });

  test.each([
    ['export const other = 1;', /expected an export named createAgent or agent, found other/],
    ['export const createAgent = 1;', /createAgent: expected a function/],
    ['throw new Error("at import")', /cannot be loaded: at import/],
  ])('%j is refused before any Session', async (source, message) => {
    await write('bad.mjs', source);
    await expect(resolved('./bad.mjs')).rejects.toThrow(message);
  });

  test('what is no Agent is refused by key', async () => {
    await write('bad.mjs', "export const createAgent = () => ({ speaks: { kind: 'telepathy' } });");
    await expect(made((await resolved('./bad.mjs')).spec)).rejects.toThrow(/no Agent: speaks\.kind/);
  });

  test('a driver that returns nothing has failed, never completed', async () => {
    await write('driver.mjs', "export const agent = { speaks: { kind: 'driver', drive: async () => {} } };");
    const { speaks } = await made((await resolved('./driver.mjs')).spec);
    if (speaks.kind !== 'driver') throw new Error('expected a driver');
    expect(await speaks.drive({} as DriverWork)).toMatchObject({ kind: 'failed' });
  });

  test('createAgent gets the task, the granted variables alone, and the frozen package', async () => {
    await write(
      'agent.mjs',
      "export const createAgent = ({ task, environment, packageFiles }) => ({ files: [{ tree: packageFiles, target: '/opt/agent' }], environment: { seen: Object.keys(environment).join() + task.name }, speaks: { kind: 'command', argv: ['true'] } });",
    );
    const { spec } = await resolved('./agent.mjs', ['ONLY']);
    const agent = await module.make(spec, {
      task: { name: 'sample' } as Task,
      hostEnvironment: { ONLY: 'value-1', HOME: '/root' },
      filesFor,
    });
    expect(agent).toMatchObject({
      environment: { seen: 'ONLYsample', ONLY: 'value-1' },
      redact: ['value-1'],
      files: [{ target: '/opt/agent' }],
    });
  });
});

describe('oracle', () => {
  const solution = {
    argv: ['/solution/solve.sh'],
    files: { root: '/x', digest: 'd', bytes: 0, files: [] },
    target: '/solution',
    env: { KEY: '${TOKEN}', LEVEL: '${LEVEL:-3}' },
  };
  const task = { name: 'sample', solution } as unknown as Task;

  test('runs the solution where the task puts it, with its environment', async () => {
    const { spec } = await resolved('oracle', ['TOKEN']);
    expect(await oracle.make(spec, { task, hostEnvironment: { TOKEN: 'value-1', LEVEL: '9' }, filesFor })).toEqual({
      files: [{ tree: solution.files, target: '/solution' }],
      environment: { TOKEN: 'value-1', DEBIAN_FRONTEND: 'noninteractive', KEY: 'value-1', LEVEL: '3' },
      redact: ['value-1'],
      timeLimitMs: null,
      speaks: { kind: 'command', argv: ['/solution/solve.sh'] },
    });
  });

  test('a host variable that the solution asks for must be granted', async () => {
    const { spec } = await resolved('oracle');
    await expect(oracle.make(spec, { task, hostEnvironment: { TOKEN: 'value-1' }, filesFor })).rejects.toThrow(/pass --agent-env TOKEN/);
    expect(oracle.refuses?.(spec, task)).toMatch(/pass --agent-env TOKEN$/);
  });

  test('a task without a solution is refused in a sentence', async () => {
    const { spec } = await resolved('oracle');
    const bare = { name: 'bare', solution: null } as unknown as Task;
    expect(oracle.refuses?.(spec, bare)).toBe(
      'bare: the oracle agent needs a reference solution, and this task has none: add solution/solve.sh or leave the task out',
    );
    expect(oracle.refuses?.((await resolved('oracle', ['TOKEN'])).spec, task)).toBeNull();
  });
});

function filesFor(digest: string): string {
  return keptFilesFolder(path.join(directory, 'home'), digest);
}

function context(environmentNames: string[] = []): ResolveContext {
  return { directory, environmentNames, keepFiles: (files, options) => keepFiles(path.join(directory, 'home'), files, options), filesFor };
}

async function resolved(text: string, environmentNames: string[] = []) {
  const agent = await resolveAgent(text, context(environmentNames));
  if (agent.kind === 'id') throw new Error('expected a spec');
  return agent;
}

function made(spec: AgentSpec) {
  return module.make(spec, { task: null, hostEnvironment: {}, filesFor });
}

async function write(relative: string, content: string, mode = 0o644): Promise<void> {
  const place = path.join(directory, relative);
  await mkdir(path.dirname(place), { recursive: true });
  await writeFile(place, content);
  await chmod(place, mode);
}
