import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { AppError } from '../domain/errors.ts';
import type { ExecOptions, Exit, Sandbox, SandboxLease, SandboxSpec } from '../sandbox.ts';
import { ownerText, ownProcess } from '../system/processes.ts';
import { collect, packEntries, type ReadEntry, readEntries } from '../system/tar.ts';
import { SANDBOXES } from './index.ts';

const IMAGE = { kind: 'reference', reference: 'proctor-base:12' } as const;

for (const [name, make] of Object.entries(SANDBOXES)) {
  const directory = mkdtempSync(path.join(tmpdir(), 'proctor-conformance-'));
  const provider = make({ environment: process.env, directory });
  const labels = {
    store: `conformance-${process.pid}-${name}`,
    owner: ownerText(ownProcess()),
    session: 'sess_conformance',
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  };
  const reason = await provider.unusable();
  const closed = reason === null && (await provider.abilities()).networks.includes('none');
  if (reason !== null) console.warn(`skipped: sandboxes/${name}: ${reason}`);

  const spec = (over: Partial<SandboxSpec> = {}): SandboxSpec => ({
    image: IMAGE,
    prepared: null,
    workdir: '/app',
    env: { FROM_SPEC: 'spec' },
    user: null,
    cpus: null,
    memoryMb: null,
    storageMb: null,
    gpus: null,
    pids: null,
    network: { mode: closed ? 'none' : 'public', hosts: [] },
    mounts: [],
    labels,
    ...over,
  });

  describe.skipIf(reason !== null)(`a sandbox of ${name}`, () => {
    afterAll(async () => {
      await shared?.[Symbol.asyncDispose]();
      const left = (await provider.owned()).filter((thing) => thing.labels.store === labels.store);
      await provider.remove(left);
      await provider[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
      expect(left).toEqual([]);
    });

    /** One sandbox for every promise that needs no fresh one. */
    let shared: SandboxLease | null = null;
    const lease = async (): Promise<SandboxLease> => {
      shared ??= await provider.open(spec());
      return shared;
    };
    const box = async (): Promise<Sandbox> => (await lease()).sandbox;

    test('keeps the streams apart and tells the exit code', async () => {
      const ran = await run(await box(), ['sh', '-c', 'echo out; echo err >&2; exit 3']);
      expect(ran).toEqual({ exit: { kind: 'exited', code: 3 }, stdout: 'out\n', stderr: 'err\n' });
    });

    test('tells a program that was killed from one that ended', async () => {
      expect((await run(await box(), ['sh', '-c', 'kill -9 $$'])).exit).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
      expect((await run(await box(), ['sh', '-c', 'exit 1'])).exit).toEqual({ kind: 'exited', code: 1 });
    });

    test('tells what could not be started from what ended with 127 or 126 by itself', async () => {
      const sandbox = await box();
      const missing = await run(sandbox, ['/no/such/program']);
      expect(missing).toMatchObject({ exit: { kind: 'not_started' }, stdout: '', stderr: '' });
      expect(missing.exit.kind === 'not_started' && missing.exit.reason).toContain('/no/such/program');
      expect((await run(sandbox, ['/etc/passwd'])).exit.kind).toBe('not_started');
      expect((await run(sandbox, ['true'], { cwd: '/no/such/directory' })).exit.kind).toBe('not_started');
      expect((await run(sandbox, ['true'], { user: 'nobody-of-that-name' })).exit.kind).toBe('not_started');
      expect((await run(sandbox, ['sh', '-c', 'no-such-program'])).exit).toEqual({ kind: 'exited', code: 127 });
      expect((await run(sandbox, ['sh', '-c', 'exit 126'])).exit).toEqual({ kind: 'exited', code: 126 });
    });

    test('passes words, directory, environment and user on as they are', async () => {
      const sandbox = await box();
      const words = await run(sandbox, ['printf', '%s|', 'a b', '$HOME', '*', '', 'ü']);
      expect(words.stdout).toBe('a b|$HOME|*||ü|');
      expect((await run(sandbox, ['pwd'])).stdout).toBe(`${sandbox.inside('/app')}\n`);
      expect((await run(sandbox, ['pwd'], { cwd: sandbox.inside('/tmp') })).stdout).toBe(`${sandbox.inside('/tmp')}\n`);
      const env = await run(sandbox, ['sh', '-c', 'echo $FROM_SPEC $MORE'], { env: { MORE: 'more' } });
      expect(env.stdout).toBe('spec more\n');
      expect((await run(sandbox, ['sh', '-c', 'echo $FROM_SPEC'], { env: { FROM_SPEC: 'exec' } })).stdout).toBe('exec\n');
    });

    test('runs as the user that was asked for', async (context) => {
      if (!(await provider.abilities()).enforces.has('users')) context.skip('this provider has one user');
      expect((await run(await box(), ['id', '-u'], { user: 'nobody' })).stdout).toBe('65534\n');
      expect((await run(await box(), ['id', '-u'], { user: 1234 })).stdout).toBe('1234\n');
      expect((await run(await box(), ['id', '-u'])).stdout).toBe('0\n');
    });

    test('a program that leaves a child with its stdout is not waited for longer than it takes to notice', async () => {
      const startedAt = Date.now();
      const ran = await run(await box(), ['sh', '-c', 'sleep 30 & echo started']);
      expect(ran).toMatchObject({ exit: { kind: 'exited', code: 0 }, stdout: 'started\n' });
      expect(Date.now() - startedAt).toBeLessThan(5000);
    });

    test('stdin is at its end, is bytes, or comes from a source as it comes', async () => {
      const sandbox = await box();
      expect((await run(sandbox, ['cat'])).exit).toEqual({ kind: 'exited', code: 0 });
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
      const chunks: Uint8Array[] = [];
      const exit = await sandbox.exec(['cat'], { stdin: bytes, stdout: (chunk) => chunks.push(chunk) });
      expect(exit).toEqual({ kind: 'exited', code: 0 });
      expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
      const heard = Promise.withResolvers<void>();
      async function* source() {
        yield Buffer.from('one\n');
        await heard.promise;
        yield Buffer.from('two\n');
      }
      let text = '';
      await sandbox.exec(['cat'], {
        stdin: source(),
        stdout: (chunk) => {
          text += Buffer.from(chunk).toString();
          if (text === 'one\n') heard.resolve();
        },
      });
      expect(text).toBe('one\ntwo\n');
    });

    test('what was on its way when a program ended arrives whole, however busy this process is', async () => {
      let bytes = 0;
      const exit = await (await box()).exec(['sh', '-c', 'head -c 3000000 /dev/zero'], {
        stdout: (chunk) => {
          if (bytes === 0) for (const until = Date.now() + 700; Date.now() < until; );
          bytes += chunk.length;
        },
      });
      expect([exit, bytes]).toEqual([{ kind: 'exited', code: 0 }, 3_000_000]);
    });

    test('a time limit ends the whole tree, a child in a session of its own too', async () => {
      const sandbox = await box();
      const startedAt = Date.now();
      const ran = await run(sandbox, ['sh', '-c', 'setsid sh -c "sleep 61 & wait" & sleep 61'], { timeLimitMs: 700 });
      expect(ran.exit).toEqual({ kind: 'timed_out' });
      expect(Date.now() - startedAt).toBeLessThan(6000);
      expect(await countOf(sandbox, 'sleep 61')).toBe(0);
    });

    test('an abort ends the tree', async () => {
      const sandbox = await box();
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 400);
      const ran = await run(sandbox, ['sh', '-c', 'sleep 62 & sleep 62'], { signal: controller.signal });
      expect(ran.exit).toEqual({ kind: 'aborted' });
      expect(await countOf(sandbox, 'sleep 62')).toBe(0);
      expect((await run(sandbox, ['true'], { signal: AbortSignal.abort() })).exit).toEqual({ kind: 'aborted' });
    });

    test('a limit that is not reached changes nothing', async () => {
      expect((await run(await box(), ['true'], { timeLimitMs: 30_000 })).exit).toEqual({ kind: 'exited', code: 0 });
      // It ended in time; what it left keeps its stdout open beyond the limit.
      expect((await run(await box(), ['sh', '-c', 'sleep 30 & exit 7'], { timeLimitMs: 1000 })).exit).toEqual({ kind: 'exited', code: 7 });
    });

    test('a terminal has the size that was asked for', async (context) => {
      const ran = await run(await box(), ['sh', '-c', 'test -t 1 && stty size'], { tty: { columns: 101, rows: 31 } });
      if (ran.exit.kind === 'not_started') context.skip(`no terminals here: ${ran.exit.reason}`);
      expect(ran.stdout.trim()).toBe('31 101');
    });

    test('files go in and come out byte for byte, with their modes', async () => {
      const sandbox = await box();
      await sandbox.upload(
        packEntries([
          { path: 'in/', type: 'directory', mode: 0o750 },
          { path: 'in/empty', type: 'file', content: '' },
          { path: 'in/run.sh', type: 'file', mode: 0o755, content: '#!/bin/sh\necho ran\n' },
          { path: 'in/bytes', type: 'file', mode: 0o600, content: Buffer.from([0, 255, 10, 13, 0]) },
          { path: 'in/link', type: 'symlink', link: 'bytes' },
        ]),
        '/app',
      );
      expect((await run(sandbox, ['./in/run.sh'])).stdout).toBe('ran\n');
      const entries = await downloaded(sandbox, '/app/in');
      const found = new Map(entries.map((entry) => [entry.path, entry]));
      expect([...found.keys()].sort()).toEqual(['in', 'in/bytes', 'in/empty', 'in/link', 'in/run.sh']);
      expect(found.get('in')).toMatchObject({ type: 'directory', mode: 0o750 });
      expect(found.get('in/empty')).toMatchObject({ size: 0, mode: 0o644 });
      expect(found.get('in/run.sh')).toMatchObject({ mode: 0o755 });
      expect(found.get('in/bytes')).toMatchObject({ mode: 0o600, content: Buffer.from([0, 255, 10, 13, 0]) });
      expect(found.get('in/link')).toMatchObject({ type: 'symlink', link: 'bytes' });
    });

    test('a missing path is null, and an upload needs its directory', async () => {
      const sandbox = await box();
      expect(await sandbox.download('/app/nothing/here')).toBeNull();
      expect(await sandbox.realPath('/app/nothing/here')).toBeNull();
      await expect(sandbox.upload(await collect(packEntries([])), '/app/nothing')).rejects.toThrow();
      const large = packEntries([{ path: 'large', type: 'file', content: Buffer.alloc(20_000_000) }]);
      await expect(sandbox.upload(large, '/app/nothing')).rejects.not.toMatchObject({ code: 'sandbox_lost' });
      async function* broken() {
        yield Buffer.alloc(512);
        throw new Error('the source broke');
      }
      await expect(sandbox.upload(broken(), '/app')).rejects.toThrow('the source broke');
      expect((await run(sandbox, ['true'])).exit).toEqual({ kind: 'exited', code: 0 });
    });

    test('one upload empties a directory and fills it, without a program inside', async () => {
      const sandbox = await box();
      await run(sandbox, ['sh', '-c', 'mkdir -p d/old/deep && touch d/old/deep/f d/.hidden && ln -s /etc d/etc && chmod 700 d']);
      await sandbox.upload(
        packEntries([
          { path: 'd', type: 'file', content: '' },
          { path: 'd/', type: 'directory', mode: 0o755 },
          { path: 'd/new', type: 'file', content: 'new' },
        ]),
        '/app',
      );
      expect((await downloaded(sandbox, '/app/d')).map((entry) => entry.path).sort()).toEqual(['d', 'd/new']);
      expect((await run(sandbox, ['cat', '/etc/passwd'])).exit).toEqual({ kind: 'exited', code: 0 });
    });

    test('an upload does not write through a link that stands in its way', async () => {
      const sandbox = await box();
      await run(sandbox, ['sh', '-c', 'mkdir -p secret w && echo kept > secret/f && ln -s "$PWD/secret" w/logs']);
      await sandbox.upload(
        packEntries([
          { path: 'w/logs', type: 'file', content: '' },
          { path: 'w/logs/', type: 'directory' },
          { path: 'w/logs/f', type: 'file', content: 'written' },
        ]),
        '/app',
      );
      expect((await run(sandbox, ['cat', 'secret/f', 'w/logs/f'])).stdout).toBe('kept\nwritten');
    });

    test('real paths follow every link, wherever in the path it is', async () => {
      const sandbox = await box();
      await run(sandbox, [
        'sh',
        '-c',
        'mkdir -p r/a && touch r/a/f && ln -s a r/b && ln -s "$PWD/r/b/f" r/c && ln -s /nowhere r/gone && ln -s loop r/loop',
      ]);
      expect(await sandbox.realPath('/app/r/a/f')).toBe('/app/r/a/f');
      expect(await sandbox.realPath('/app/r/b/f')).toBe('/app/r/a/f');
      expect(await sandbox.realPath('/app/r/c')).toBe('/app/r/a/f');
      expect(await sandbox.realPath('/app/r/gone')).toBeNull();
      expect(await sandbox.realPath('/app/r/loop')).toBeNull();
    });

    test('what is left is what started after the mark, daemons included, and it can be stopped, continued and killed', async () => {
      await using own = await provider.open(spec());
      await run(own.sandbox, ['sh', '-c', 'setsid sleep 71 >/dev/null 2>&1 &']);
      await own.mark();
      expect(await own.left()).toEqual([]);
      await run(own.sandbox, ['sh', '-c', '(setsid sleep 72 >/dev/null 2>&1 &) ; sh -c "exit 0" &']);
      // Programs of a moment may still be seen at their beginning or end.
      await expect.poll(async () => (await own.left()).map((one) => one.argv)).toEqual(['sleep 72']);
      const left = await own.left();
      expect(left[0]).toMatchObject({ listening: [], startedAt: expect.closeTo(Date.now(), -5) });
      await own.signal(left, 'stop');
      expect(await stateOf(own.sandbox, 'sleep 72')).toBe('T');
      await own.signal(left, 'continue');
      expect(await stateOf(own.sandbox, 'sleep 72')).toBe('S');
      await own.signal(left, 'kill');
      expect(await own.left()).toEqual([]);
      expect(await countOf(own.sandbox, 'sleep 71')).toBe(1);
      expect((await run(own.sandbox, ['true'])).exit).toEqual({ kind: 'exited', code: 0 });
    });

    test('what was left listening is told with its port', async (context) => {
      await using own = await provider.open(spec());
      const perl =
        'use IO::Socket::INET; my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => 4567) or die; sleep 60';
      if ((await run(own.sandbox, ['perl', '-e', 'use IO::Socket::INET'])).exit.kind !== 'exited') context.skip('no perl in the sandbox');
      await own.mark();
      await run(own.sandbox, ['sh', '-c', 'setsid perl -e "$1" >/dev/null 2>&1 & sleep 0.5', 'sh', perl]);
      expect((await own.left()).map((one) => one.listening)).toEqual([[4567]]);
    });

    test('changes and originals tell the sandbox from what it began as', async (context) => {
      await using own = await provider.open(spec());
      if (own.changes === undefined || own.original === undefined) return context.skip('this provider cannot tell');
      await run(own.sandbox, ['sh', '-c', 'echo x > /app/new; echo y >> /etc/hostname.none; rm /etc/issue; echo z >> /etc/debian_version']);
      const changes = await own.changes();
      if (changes === null) return context.skip('this sandbox cannot tell');
      expect(changes).toContainEqual({ path: '/app/new', kind: 'added' });
      expect(changes.filter((one) => one.path.startsWith('/etc/issue'))).toEqual([{ path: '/etc/issue', kind: 'deleted' }]);
      expect(changes).toContainEqual({ path: '/etc/debian_version', kind: 'modified' });
      expect(Buffer.from((await own.original('/etc/debian_version', 1000)) ?? []).toString()).toMatch(/^12\.\d+\n$/);
      expect(await own.original('/etc/debian_version', 1)).toBeNull();
      expect(await own.original('/app/new', 1000)).toBeNull();
      expect(await own.original('/etc', 100_000)).toBeNull();
    });

    test('a verifier on a snapshot has the files and none of the processes', async (context) => {
      await using own = await provider.open(spec());
      if (own.snapshot === undefined || own.openVerifier === undefined) return context.skip('this provider has no snapshots');
      await run(own.sandbox, ['sh', '-c', 'echo then > state; setsid sleep 73 >/dev/null 2>&1 &']);
      await using snapshot = await own.snapshot();
      expect(snapshot.missing).toEqual([]);
      await run(own.sandbox, ['sh', '-c', 'echo later > state']);
      await using verifier = await own.openVerifier(snapshot);
      expect((await run(verifier.sandbox, ['cat', 'state'])).stdout).toBe('then\n');
      expect(await countOf(verifier.sandbox, 'sleep 73')).toBe(0);
      expect(await countOf(own.sandbox, 'sleep 73')).toBe(1);
      expect((await run(verifier.sandbox, ['sh', '-c', 'echo $FROM_SPEC; pwd'])).stdout).toBe('spec\n/app\n');
      expect((await run(verifier.sandbox, ['sh', '-c', 'echo mine > state'])).exit).toEqual({ kind: 'exited', code: 0 });
      expect((await run(own.sandbox, ['cat', 'state'])).stdout).toBe('later\n');
    });

    test('a filesystem kept under a key is where a later sandbox begins', async (context) => {
      const key = `conformance ${labels.store}`;
      await using own = await provider.open(spec());
      if (own.keepAs === undefined || provider.kept === undefined) return context.skip('this provider keeps none');
      expect(await provider.kept(key)).toBeNull();
      await run(own.sandbox, ['sh', '-c', 'echo kept > /opt/setup']);
      await own.keepAs(key);
      const kept = await provider.kept(key);
      await using later = await provider.open(spec({ prepared: kept }));
      expect((await run(later.sandbox, ['cat', '/opt/setup'])).stdout).toBe('kept\n');
      await later[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
      await provider.remove((await provider.owned()).filter((thing) => thing.labels.store === labels.store && thing.id === kept?.id));
      expect(await provider.kept(key)).toBeNull();
    });

    test('a paused sandbox stands still until it is continued', async (context) => {
      await using own = await provider.open(spec());
      if (own.pause === undefined) return context.skip('this provider cannot pause');
      await run(own.sandbox, ['sh', '-c', 'setsid sh -c "while :; do date +%s%N > tick; sleep 0.05; done" >/dev/null 2>&1 &']);
      const tick = async () => Buffer.from((await downloaded(own.sandbox, '/app/tick'))[0]?.content ?? []).toString();
      const paused = await own.pause();
      const before = await tick();
      await sleep(300);
      expect(await tick()).toBe(before);
      await paused[Symbol.asyncDispose]();
      await sleep(300);
      expect(await tick()).not.toBe(before);
    });

    test.skipIf(!closed)('a sandbox without network has loopback alone', async () => {
      const ran = await run(await box(), ['sh', '-c', 'cat /proc/net/route | tail -n +2; ls /sys/class/net']);
      expect(ran.stdout.trim()).toBe('lo');
    });

    test('an allowlist that cannot be enforced is refused', async (context) => {
      if ((await provider.abilities()).networks.includes('allowlist')) context.skip('it can');
      await expect(provider.open(spec({ network: { mode: 'allowlist', hosts: ['example.org'] } }))).rejects.toMatchObject({
        code: 'cannot_enforce',
      });
    });

    test('a mount is there and cannot be written', async (context) => {
      const mounts = [{ path: '/mounted', source: directory, readOnly: true as const }];
      const opened = await provider.open(spec({ mounts })).catch((error) => error);
      if (opened instanceof AppError && opened.details.capability === 'mounts') return context.skip(opened.message);
      await using own: SandboxLease = opened;
      expect((await run(own.sandbox, ['sh', '-c', 'test -d /mounted && ! touch /mounted/x 2>/dev/null'])).exit).toEqual({
        kind: 'exited',
        code: 0,
      });
    });

    test('two sandboxes at once do not meet', async () => {
      await using one = await provider.open(spec());
      await using two = await provider.open(spec());
      await Promise.all([run(one.sandbox, ['sh', '-c', 'echo one > f']), run(two.sandbox, ['sh', '-c', 'echo two > f'])]);
      const [first, second] = await Promise.all([run(one.sandbox, ['cat', 'f']), run(two.sandbox, ['cat', 'f'])]);
      expect([first.stdout, second.stdout]).toEqual(['one\n', 'two\n']);
    });

    test('many programs at once each get their own output', async () => {
      const sandbox = await box();
      const outputs = await Promise.all(
        Array.from({ length: 8 }, (_, index) => run(sandbox, ['sh', '-c', `echo ${index}; exit ${index}`])),
      );
      expect(outputs.map((one) => [one.exit, one.stdout])).toEqual(
        outputs.map((_, index) => [{ kind: 'exited', code: index }, `${index}\n`]),
      );
    });

    test('disposal is final, may be repeated, and is not a loss', async () => {
      const own = await provider.open(spec());
      let lost = false;
      void own.lost.then(() => {
        lost = true;
      });
      expect((await provider.owned()).filter((thing) => thing.labels.store === labels.store).length).toBeGreaterThan(0);
      const running = run(own.sandbox, ['sleep', '63']);
      await sleep(200);
      await own[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
      expect((await running).exit.kind).toBe('lost');
      expect((await run(own.sandbox, ['true'])).exit.kind).toBe('lost');
      expect(lost).toBe(false);
    });

    test('what is removed by its label is gone, and its holder learns that it is lost', async () => {
      const mine = { ...labels, store: `${labels.store}-other` };
      const own = await provider.open(spec({ labels: mine }));
      const things = (await provider.owned()).filter((thing) => thing.labels.store === mine.store);
      expect(things.map((thing) => thing.labels)).toEqual(things.map(() => mine));
      expect(things.length).toBeGreaterThan(0);
      await provider.remove(things);
      expect(await own.lost).toMatch(/\w/);
      await own[Symbol.asyncDispose]();
      expect((await provider.owned()).filter((thing) => thing.labels.store === mine.store)).toEqual([]);
    });
  });
}

async function run(
  sandbox: Sandbox,
  argv: readonly string[],
  options: ExecOptions = {},
): Promise<{ exit: Exit; stdout: string; stderr: string }> {
  const stdout: Uint8Array[] = [];
  const stderr: Uint8Array[] = [];
  const exit = await sandbox.exec(argv, { stdout: (chunk) => stdout.push(chunk), stderr: (chunk) => stderr.push(chunk), ...options });
  return { exit, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}

async function downloaded(sandbox: Sandbox, target: string): Promise<ReadEntry[]> {
  const tar = await sandbox.download(target);
  return tar === null ? [] : await readEntries(tar, { maxFileBytes: 1_000_000, maxFiles: 100 });
}

/** How many live processes inside have this command line. */
async function countOf(sandbox: Sandbox, argv: string): Promise<number> {
  return (await statesOf(sandbox, argv)).filter((state) => state !== 'Z').length;
}

async function stateOf(sandbox: Sandbox, argv: string): Promise<string | undefined> {
  return (await statesOf(sandbox, argv))[0];
}

async function statesOf(sandbox: Sandbox, argv: string): Promise<string[]> {
  const script = 'for p in /proc/[0-9]*; do [ "$(tr "\\0" " " < $p/cmdline 2>/dev/null)" = "$1 " ] && cut -d " " -f 3 $p/stat; done; true';
  return (await run(sandbox, ['sh', '-c', script, 'sh', argv])).stdout.split('\n').filter((line) => line !== '');
}
