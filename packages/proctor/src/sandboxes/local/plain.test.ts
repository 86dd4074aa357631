import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { ExecOptions, Sandbox, SandboxSpec } from '../../sandbox.ts';
import { listProcesses, ownerText, ownProcess } from '../../system/processes.ts';
import { packEntries } from '../../system/tar.ts';
import { plainSandboxes } from './plain.ts';

const directory = mkdtempSync(join(tmpdir(), 'proctor-plain-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const labels = {
  store: 'plain-test',
  owner: ownerText(ownProcess()),
  session: 'sess_plain',
  expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
};
const nothing = {
  image: null,
  prepared: null,
  workdir: null,
  user: null,
  cpus: null,
  memoryMb: null,
  storageMb: null,
  gpus: null,
  pids: null,
};
const spec = (over: Partial<SandboxSpec> = {}): SandboxSpec => ({
  ...nothing,
  env: {},
  network: { mode: 'public', hosts: [] },
  mounts: [],
  labels,
  ...over,
});

const provider = plainSandboxes({ environment: process.env, directory });
const reason = await provider.unusable();
if (reason !== null) console.warn(`skipped: plain processes: ${reason}`);

describe.skipIf(reason !== null)('plain processes', () => {
  test('see sandbox paths below the Session’s own directory, and none of our variables', async () => {
    await using lease = await provider.open(spec());
    expect(lease.sandbox.inside('/tests/x')).toMatch(/\/root\/tests\/x$/);
    expect(lease.sandbox.inside(lease.sandbox.inside('/tests/x'))).toBe(lease.sandbox.inside('/tests/x'));
    expect(lease.sandbox.inside('/../../etc/passwd')).toMatch(/\/root\/etc\/passwd$/);
    process.env.PROCTOR_TEST_SECRET = 'ours';
    const { stdout } = await run(lease.sandbox, ['sh', '-c', 'pwd; echo "$HOME"; env | grep -c PROCTOR_TEST_SECRET; true']);
    delete process.env.PROCTOR_TEST_SECRET;
    expect(stdout).toBe(`${lease.sandbox.inside('/app')}\n${lease.sandbox.inside('/root')}\n0\n`);
  });

  test('a daemon that left the tree is found by its marker, and one that dropped the marker by its descent', async () => {
    const lease = await provider.open(spec());
    await lease.mark();
    await run(lease.sandbox, ['sh', '-c', '(setsid sleep 4711 >/dev/null 2>&1 &)']);
    const running = run(lease.sandbox, ['sh', '-c', 'env -i /bin/sleep 4712 & wait']);
    for (let looks = 0; looks < 100 && (await lease.left()).length < 3; looks++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await lease.left()).map((one) => one.argv).sort()).toEqual([
      '/bin/sleep 4712',
      'sh -c env -i /bin/sleep 4712 & wait',
      'sleep 4711',
    ]);
    await lease[Symbol.asyncDispose]();
    expect((await running).exit.kind).toBe('lost');
    expect(commands('4711').concat(commands('4712'))).toEqual([]);
  });

  test('links that lead out are never written through and never read through', async () => {
    await using lease = await provider.open(spec());
    const outside = join(directory, 'outside');
    await run(lease.sandbox, [
      'sh',
      '-c',
      `mkdir ${outside} && echo secret >${outside}/f && rm -rf ../logs && ln -s ${outside} ../logs && ln -s ${outside}/f link`,
    ]);
    expect(await lease.sandbox.download('/logs/f')).toBeNull();
    expect(await lease.sandbox.realPath('/app/link')).toBeNull();
    await expect(lease.sandbox.upload(packEntries([{ path: 'x', type: 'file', content: 'x' }]), '/logs')).rejects.toThrow(
      /no such directory/,
    );
    await lease.sandbox.upload(
      packEntries([
        { path: 'logs/x', type: 'file', content: 'x' },
        { path: '../../escaped', type: 'file', content: 'x' },
      ]),
      '/',
    );
    expect(readdirSync(outside)).toEqual(['f']);
    expect((await run(lease.sandbox, ['cat', '../logs/x'])).stdout).toBe('x');
    expect(existsSync(join(lease.sandbox.inside('/'), '..', 'escaped'))).toBe(false);
  });

  test('what an owner left that was killed is ended and removed by the next', async () => {
    const code = `
      const { plainSandboxes } = await import(${JSON.stringify(join(import.meta.dirname, 'plain.ts'))});
      const provider = plainSandboxes({ environment: process.env, directory: ${JSON.stringify(join(directory, 'dying'))} });
      const lease = await provider.open(${JSON.stringify(spec())});
      await lease.sandbox.exec(['sh', '-c', '(setsid sleep 4713 >/dev/null 2>&1 &)'], {});
      void lease.sandbox.exec(['sleep', '4714'], {});
      setTimeout(() => console.log('up'), 300);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    await Promise.race([once(owner.stdout, 'data'), once(owner, 'exit')]);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(commands('4713')).toHaveLength(1);
    const later = plainSandboxes({ environment: process.env, directory: join(directory, 'dying') });
    await later.remove(await later.owned());
    expect(commands('4713').concat(commands('4714'))).toEqual([]);
    expect(await later.owned()).toEqual([]);
  });

  test('what cannot be held is refused by name', async () => {
    const asks: Partial<SandboxSpec>[] = [
      { network: { mode: 'none', hosts: [] } },
      { user: 'nobody-of-that-name' },
      { gpus: 1 },
      { mounts: [{ path: '/m', source: '/usr', readOnly: true }] },
    ];
    for (const ask of asks) await expect(provider.open(spec(ask))).rejects.toMatchObject({ code: 'cannot_enforce' });
    writeFileSync(join(directory, 'not-a-sandbox'), '');
    expect(await provider.owned()).toEqual([]);
  });
});

function commands(word: string): number[] {
  return listProcesses()
    .filter((one) => one.state !== 'Z' && one.argv.at(-1) === word)
    .map((one) => one.pid);
}

async function run(sandbox: Sandbox, argv: readonly string[], options: ExecOptions = {}) {
  let stdout = '';
  const exit = await sandbox.exec(argv, {
    stdout: (chunk) => {
      stdout += Buffer.from(chunk).toString();
    },
    ...options,
  });
  return { exit, stdout };
}
