import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import type { ExecOptions, Sandbox, SandboxProvider, SandboxSpec } from '../../sandbox.ts';
import { ownerText, ownProcess } from '../../system/processes.ts';
import { readEntries } from '../../system/tar.ts';
import { dockerSandboxes } from './docker.ts';
import { findEndpoint } from './endpoint.ts';
import { EngineClient } from './engine.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'proctor-docker-'));
const options = { environment: process.env, directory };
const provider = dockerSandboxes(options);
const labels = {
  store: `docker-test-${process.pid}`,
  owner: ownerText(ownProcess()),
  session: 'sess_docker',
  expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
};
const reason = await provider.unusable();
if (reason !== null) console.warn(`skipped: ${reason}`);

const spec = (over: Partial<SandboxSpec> = {}): SandboxSpec => ({
  image: { kind: 'reference', reference: 'proctor-base:12' },
  prepared: null,
  workdir: null,
  env: {},
  user: null,
  cpus: null,
  memoryMb: null,
  storageMb: null,
  gpus: null,
  pids: null,
  network: { mode: 'none', hosts: [] },
  mounts: [],
  labels,
  ...over,
});

describe.skipIf(reason !== null)('docker', () => {
  afterAll(async () => {
    const left = (await provider.owned()).filter((thing) => thing.labels.store === labels.store);
    await provider.remove(left);
    await provider[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
    expect(left.filter((thing) => thing.kind !== 'image')).toEqual([]);
  });

  test('a container ends with the process that holds it, kill -9 included', async () => {
    const owner = startOwner();
    const [id] = (await once(owner.stdout!, 'data')).map(String);
    expect(await exists(id!)).toBe(true);
    owner.kill('SIGKILL');
    await expect.poll(() => exists(id!), { timeout: 20_000, interval: 100 }).toBe(false);
  });

  test('limits of cpus, memory and processes are the engine’s', async () => {
    await using lease = await provider.open(spec({ cpus: 0.5, memoryMb: 64, pids: 40 }));
    const { HostConfig } = await inspected(lease);
    expect(HostConfig).toMatchObject({ NanoCpus: 5e8, Memory: 64 * 2 ** 20, MemorySwap: 64 * 2 ** 20, PidsLimit: 40, Init: false });
    const forks = await run(lease.sandbox, ['sh', '-c', 'i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done 2>&1 | head -c 300']);
    expect(forks.stdout).toMatch(/fork|resource/i);
  });

  test('a program that takes more memory than there is is killed, and the sandbox lives', async () => {
    await using lease = await provider.open(spec({ memoryMb: 48 }));
    const hog = await run(lease.sandbox, ['perl', '-e', 'my $x = "x" x (200 * 1024 * 1024); print length $x']);
    expect(hog.exit).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
    expect((await run(lease.sandbox, ['echo', 'alive'])).stdout).toBe('alive\n');
  });

  test('a killed container is a loss with its cause, for the lease and for what ran', async () => {
    await using lease = await provider.open(spec());
    const running = run(lease.sandbox, ['sleep', '60']);
    await sleep(300);
    await engine().call('POST', `/containers/${idOf(lease)}/kill`);
    expect(await lease.lost).toContain('main process ended with 137');
    expect((await running).exit).toMatchObject({ kind: 'lost', cause: expect.stringContaining('the container is gone') });
    await expect(lease.left()).rejects.toThrow();
    await expect(lease.sandbox.download('/etc')).rejects.toMatchObject({ code: 'sandbox_lost' });
  });

  test('PID 1 is cat alone, so that everything else can be killed', async () => {
    await using lease = await provider.open(spec());
    await lease.mark();
    await run(lease.sandbox, ['sh', '-c', '(setsid sh -c "trap : TERM; sleep 60" >/dev/null 2>&1 &)']);
    await run(lease.sandbox, ['sh', '-c', 'kill -9 -1']);
    expect(await lease.left()).toEqual([]);
    expect((await run(lease.sandbox, ['cat', '/proc/1/cmdline'])).stdout).toBe('cat\0');
  });

  test('a time limit holds where the shell of the image is broken', async () => {
    await using lease = await provider.open(spec());
    await run(lease.sandbox, [
      'sh',
      '-c',
      'cp /bin/sleep /bin/true /; for p in /bin/sh /bin/bash /bin/dash /usr/bin/kill; do : > $p; done; true',
    ]);
    expect((await run(lease.sandbox, ['/sleep', '60'], { timeLimitMs: 400 })).exit).toEqual({ kind: 'timed_out' });
    expect(await lease.left()).toEqual([]);
  });

  test('the image’s own user runs what names no other, and its directory is the workdir', async () => {
    const context = contextOf({
      Dockerfile:
        'FROM proctor-base:12\nENV FROM_IMAGE=yes\nWORKDIR /srv/work\nUSER nobody\nHEALTHCHECK --interval=1s CMD touch /tmp/checked\n',
    });
    const prepared = await provider.prepare!(context, prepareOptions());
    expect(prepared).toMatchObject({ built: true, workdir: '/srv/work', user: 'nobody', digest: null, env: { FROM_IMAGE: 'yes' } });
    expect(prepared.log).toContain('WORKDIR');
    await using lease = await provider.open(spec({ prepared }));
    const ran = await run(lease.sandbox, ['sh', '-c', 'pwd; id -un; echo $FROM_IMAGE; ls /tmp']);
    expect(ran.stdout).toBe('/srv/work\nnobody\nyes\n');
    expect((await run(lease.sandbox, ['id', '-un'], { user: 'root' })).stdout).toBe('root\n');
    expect(lease.facts).toMatchObject({
      workdir: '/srv/work',
      imageId: prepared.id,
      isolation: 'container',
      platform: expect.stringContaining('linux/'),
    });
  });

  test('what the image’s entrypoint starts is there before the first command, of its user and with the Session’s variables', async () => {
    const prepared = await provider.prepare!(
      contextOf({
        Dockerfile:
          'FROM proctor-base:12\nCOPY entry.sh /srv/entry.sh\nWORKDIR /srv\nUSER nobody\nENTRYPOINT ["sh", "entry.sh"]\nCMD ["false"]\n',
        'entry.sh': 'sleep 0.3\necho "$(id -un) $ASKED" > /tmp/prepared\nsleep 300 &\nexec "$@"\n',
      }),
      prepareOptions(),
    );
    await using lease = await provider.open(spec({ prepared, workdir: '/work/here', env: { ASKED: 'two words' } }));
    await lease.mark();
    expect((await run(lease.sandbox, ['sh', '-c', 'cat /tmp/prepared; pwd'])).stdout).toBe('nobody two words\n/work/here\n');
    expect(await lease.left()).toEqual([]);
    const kept = await lease.keepAs!(`entrypoint ${labels.store}`);
    expect((await engine().call('GET', `/images/${kept.id}/json`)).text).not.toContain('two words');
    await lease[Symbol.asyncDispose]();
    await provider.remove((await provider.owned()).filter((thing) => thing.id === kept.id));
  });

  test('an entrypoint that ends instead of running its command is the task’s failure, with what it said', async () => {
    const prepared = await provider.prepare!(
      contextOf({ Dockerfile: 'FROM proctor-base:12\nENTRYPOINT ["sh", "-c", "echo no database: $*; sleep 0.3; exit 3", "sh"]\n' }),
      prepareOptions(),
    );
    await expect(provider.open(spec({ prepared }))).rejects.toMatchObject({
      code: 'image_unavailable',
      message: expect.stringContaining('no database'),
      details: { attribution: 'task' },
    });
  });

  test('a directory of the image is told as the image has it, whatever became of it', async () => {
    const prepared = await provider.prepare!(
      contextOf({
        Dockerfile: 'FROM proctor-base:12\nRUN mkdir -p /srv/real/deep && echo gold > /srv/real/deep/f && ln -s /srv/real /tests\n',
      }),
      prepareOptions(),
    );
    for (const _ of [1, 2]) {
      await using lease = await provider.open(spec({ prepared }));
      await run(lease.sandbox, ['sh', '-c', 'echo lead > /tests/deep/f; touch /tests/new; mkdir /later']);
      const entries = await readEntries((await lease.originalTree!('/tests'))!, { maxFileBytes: 100, maxFiles: 10 });
      const files = entries
        .filter((entry) => entry.type === 'file')
        .map(({ path: at, content }) => [path.posix.normalize(at), String(content)]);
      expect(files).toEqual([['deep/f', 'gold\n']]);
      expect(await lease.originalTree!('/later')).toBeNull();
    }
  });

  test('declared volumes are in a snapshot too', async () => {
    const prepared = await provider.prepare!(
      contextOf({ Dockerfile: 'FROM proctor-base:12\nRUN mkdir /data\nVOLUME /data\n' }),
      prepareOptions(),
    );
    await using lease = await provider.open(spec({ prepared }));
    await run(lease.sandbox, ['sh', '-c', 'echo volume > /data/f; mkdir -p /data/d; chmod 700 /data/d']);
    await using snapshot = await lease.snapshot!();
    expect(snapshot.missing).toEqual([]);
    await using verifier = await lease.openVerifier!(snapshot);
    expect((await run(verifier.sandbox, ['sh', '-c', 'cat /data/f; stat -c %a /data/d'])).stdout).toBe('volume\n700\n');
    expect(verifier.facts.network).toEqual({ mode: 'none', enforced: true });
  });

  test('nothing of a Session’s environment is in an image made of it', async () => {
    await using lease = await provider.open(spec({ env: { SECRET: 'sesame' } }));
    await run(lease.sandbox, ['true'], { env: { OTHER: 'sesame' } });
    const kept = await lease.keepAs!(`environment ${labels.store}`);
    const image = (await engine().call('GET', `/images/${kept.id}/json`)).text;
    expect(image).not.toContain('sesame');
    expect(JSON.parse(image).Config).toMatchObject({ Entrypoint: [] });
    await lease[Symbol.asyncDispose]();
    await provider.remove((await provider.owned()).filter((thing) => thing.id === kept.id));
  });

  test('an image without cat is refused with what it needs', async () => {
    const prepared = await provider.prepare!(contextOf({ Dockerfile: 'FROM scratch\nCOPY file /file\n', file: 'x' }), prepareOptions());
    await expect(provider.open(spec({ prepared }))).rejects.toMatchObject({ code: 'image_unavailable', details: { attribution: 'task' } });
  });

  test('an image of busybox is enough', async () => {
    await using lease = await provider.open(spec({ image: { kind: 'reference', reference: 'proctor-busybox:1' } }));
    expect((await run(lease.sandbox, ['sh', '-c', 'echo $0'])).stdout).toBe('sh\n');
  });

  test('gpus that the engine has not are refused', async (context) => {
    if ((await provider.abilities()).enforces.has('gpus')) context.skip('this engine has gpus');
    await expect(provider.open(spec({ gpus: 1 }))).rejects.toMatchObject({ code: 'cannot_enforce' });
  });

  test('a public network has a route', async () => {
    await using lease = await provider.open(spec({ network: { mode: 'public', hosts: [] } }));
    expect((await run(lease.sandbox, ['sh', '-c', 'wc -l < /proc/net/route'])).stdout.trim()).not.toBe('1');
    expect(lease.facts.network).toEqual({ mode: 'public', enforced: true });
  });

  describe('through the engine alone, as with one on another machine,', () => {
    const remote = dockerSandboxes({ ...options, processes: 'helper' });
    afterAll(() => remote[Symbol.asyncDispose]());

    test('a time limit ends the tree of its own exec and no other', async () => {
      await using lease = await remote.open(spec());
      const other = run(lease.sandbox, ['sh', '-c', 'until [ -e done ]; do sleep 0.1; done; exit 9']);
      const ran = await run(lease.sandbox, ['sh', '-c', 'setsid sh -c "sleep 64 & wait" & sleep 64'], { timeLimitMs: 700 });
      expect(ran.exit).toEqual({ kind: 'timed_out' });
      expect((await run(lease.sandbox, ['sh', '-c', 'touch done; cat /proc/[0-9]*/cmdline'])).stdout).not.toContain('sleep\x0064');
      expect((await other).exit).toEqual({ kind: 'exited', code: 9 });
    });

    test('what is left is seen, with its port, and is stopped, continued and killed', async () => {
      await using lease = await remote.open(spec());
      await run(lease.sandbox, ['sh', '-c', 'setsid sleep 71 >/dev/null 2>&1 &']);
      await lease.mark();
      expect(await lease.left()).toEqual([]);
      const perl =
        'use IO::Socket::INET; my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => 4567) or die; sleep 60';
      await run(lease.sandbox, ['sh', '-c', 'setsid perl -e "$1" >/dev/null 2>&1 & sleep 0.5', 'sh', perl], { user: 'nobody' });
      const left = await lease.left();
      expect(left).toEqual([
        expect.objectContaining({ argv: `perl -e ${perl}`, listening: [4567], user: '65534', startedAt: expect.closeTo(Date.now(), -5) }),
      ]);
      const state = async () => (await run(lease.sandbox, ['cut', '-d', ' ', '-f', '3', `/proc/${left[0]!.pid}/stat`])).stdout.trim();
      await lease.signal(left, 'stop');
      expect(await state()).toBe('T');
      await lease.signal(left, 'continue');
      expect(await state()).toBe('S');
      await lease.signal(left, 'kill');
      expect(await lease.left()).toEqual([]);
    });

    test('a helper that was killed from inside is replaced', async () => {
      await using lease = await remote.open(spec());
      await lease.mark();
      await run(lease.sandbox, ['sh', '-c', 'kill -9 -1']);
      expect(await lease.left()).toEqual([]);
    });

    test('what cannot be found out is an error', async () => {
      await using lease = await remote.open(spec());
      await engine().call('POST', `/containers/${idOf(lease)}/kill`);
      await lease.lost;
      await expect(lease.left()).rejects.toThrow();
    });
  });
});

function engine(): EngineClient {
  return new EngineClient(findEndpoint(process.env), process.env);
}

function idOf(lease: object): string {
  return 'containerId' in lease ? String(lease.containerId) : '';
}

async function inspected(lease: object) {
  return JSON.parse((await engine().call('GET', `/containers/${idOf(lease)}/json`)).text);
}

async function exists(id: string): Promise<boolean> {
  return (await engine().call('GET', `/containers/${id}/json`, { accept: [404] })).status === 200;
}

function startOwner(): ChildProcess {
  const code = `
    const { dockerSandboxes } = await import(${JSON.stringify(import.meta.resolve('./docker.ts'))});
    const lease = await dockerSandboxes(${JSON.stringify({ directory })}).open(${JSON.stringify(spec())});
    process.stdout.write(lease.containerId);
    await lease.lost;`.replace('"directory"', 'environment: process.env, "directory"');
  return spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function run(sandbox: Sandbox, argv: readonly string[], more: ExecOptions = {}) {
  let stdout = '';
  const exit = await sandbox.exec(argv, { stdout: (chunk) => (stdout += Buffer.from(chunk).toString()), ...more });
  return { exit, stdout };
}

let contexts = 0;
function contextOf(files: Record<string, string>) {
  contexts += 1;
  const root = path.join(directory, `context-${contexts}`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
  const tree = Object.entries(files).map(([file, content]) => ({
    path: file,
    bytes: Buffer.byteLength(content),
    sha256: '',
    mode: 0o644,
    asset: false,
  }));
  const digest = `${labels.store}-${contexts}`;
  return { kind: 'build' as const, context: { root, digest, bytes: 0, files: tree }, dockerfile: 'Dockerfile', built: false as const };
}

function prepareOptions(): Parameters<NonNullable<SandboxProvider['prepare']>>[1] {
  return { labels, timeLimitMs: 120_000, noBuild: false };
}
