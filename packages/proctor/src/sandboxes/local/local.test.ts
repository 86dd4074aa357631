import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import type { ExecOptions, Sandbox, SandboxSpec } from '../../sandbox.ts';
import { listStats, ownerText, ownProcess } from '../../system/processes.ts';
import { packEntries, readEntries } from '../../system/tar.ts';
import { localSandboxes } from './local.ts';
import { findProgram } from './programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'proctor-local-'));
chmodSync(directory, 0o755);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const labels = {
  store: 'local-test',
  owner: ownerText(ownProcess()),
  session: 'sess_local',
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
  network: { mode: 'none', hosts: [] },
  mounts: [],
  labels,
  ...over,
});

/** A PATH on which only these programs are. */
function pathWith(name: string, programs: Record<string, string>): string {
  const path = join(directory, name);
  mkdirSync(path);
  for (const [program, target] of Object.entries(programs)) {
    if (target.startsWith('#!')) writeFileSync(join(path, program), target, { mode: 0o755 });
    else symlinkSync(target, join(path, program));
  }
  return path;
}

const nsenter = findProgram('nsenter', process.env);
const unshare = findProgram('unshare', process.env);

const makers: Record<string, string | undefined> = { bubblewrap: process.env.PATH };
if (nsenter !== null && unshare !== null) makers.unshare = pathWith('unshare-only', { nsenter, unshare });

for (const [name, PATH] of Object.entries(makers)) {
  const provider = localSandboxes({ environment: { PATH }, directory: join(directory, `with-${name}`) });
  const reason = (await provider.unusable()) ?? ((await provider.abilities()).engine === name ? null : `${name} is not on PATH`);
  if (reason !== null) console.warn(`skipped: a local sandbox made by ${name}: ${reason}`);

  describe.skipIf(reason !== null)(`a local sandbox made by ${name}`, () => {
    test('has its own root: the host’s tools read-only, all else fresh', async () => {
      await using lease = await provider.open(spec());
      const script = `id -u; pwd; echo "$HOME"; ls -A /app /tests /solution /root | tr -d '\\n'; stat -c '%a' /tmp /logs/agent /logs/verifier /logs/artifacts;
        touch /usr/x /etc/x /bin/x 2>/dev/null && echo written; ls ${directory} 2>/dev/null; echo ok >/var/tmp/f && cat /var/tmp/f; exec 2>/dev/null; echo to >/dev/stdout; echo x >/dev/null; ls /dev/pts >/dev/null && echo pts; cat /sys/class/net/lo/operstate; ls /sys/class/net | wc -l`;
      const { stdout } = await run(lease.sandbox, ['sh', '-c', script]);
      expect(stdout.split('\n')).toEqual([
        '0',
        '/app',
        '/root',
        '/app:/root:/solution:/tests:1777',
        '777',
        '777',
        '777',
        'ok',
        'to',
        'pts',
        'unknown',
        '1',
        '',
      ]);
    });

    test('gives a program its variables and nothing of ours', async () => {
      await using lease = await provider.open(spec({ env: { TASK: "it's $HOME\nand more" } }));
      const { stdout } = await run(lease.sandbox, ['env', '-0'], { env: { 'with.dot': 'a b', IFS: ':', LD_PRELOAD: '' } });
      expect(
        stdout
          .split('\0')
          .filter((line) => line !== '' && !/^(_|SHLVL|OLDPWD)=/.test(line))
          .sort(),
      ).toEqual([
        'HOME=/root',
        'IFS=:',
        'LANG=C.UTF-8',
        'LD_PRELOAD=',
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'PWD=/app',
        "TASK=it's $HOME\nand more",
        'with.dot=a b',
      ]);
    });

    test('nothing inside can end, read or look into process 1, nor make the tools writable', async () => {
      await using lease = await provider.open(spec());
      const script = `kill -9 1; kill -TERM 1; kill -9 -1; cat /proc/1/environ; ls /proc/1/root/; mount -o remount,rw /usr; umount /usr; rm -rf /usr/bin/env;
        unshare -m true; unshare -Urm sh -c 'mount -o remount,rw /usr && touch /usr/x'; true`;
      await run(lease.sandbox, ['sh', '-c', script]);
      const { stdout } = await run(lease.sandbox, [
        'sh',
        '-c',
        'cat /proc/1/environ 2>/dev/null | wc -c; test -e /usr/x || echo unwritten; test -e /usr/bin/env && echo there',
      ]);
      expect(stdout).toBe('0\nunwritten\nthere\n');
      expect(await lease.left()).toEqual([]);
    });

    test('the kernel’s own files of the host cannot be written, with the host’s network neither', async () => {
      await using lease = await provider.open(spec({ network: { mode: 'public', hosts: [] } }));
      const script = `for file in /proc/sysrq-trigger /proc/sys/vm/swappiness /proc/sys/kernel/hostname /sys/kernel/uevent_seqnum /sys/kernel/mm/transparent_hugepage/enabled /sys/fs/cgroup/cgroup.procs; do
        { : >>"$file"; } 2>/dev/null && echo "$file"; done; grep -E ' /sys' /proc/self/mounts | grep -vE ' ro[, ]'; true`;
      expect((await run(lease.sandbox, ['sh', '-c', script])).stdout).toBe('');
    });

    test('an upload keeps what a directory holds, and puts a file where a full directory was', async () => {
      await using lease = await provider.open(spec());
      await run(lease.sandbox, ['sh', '-c', 'mkdir -p keep full/deep && touch keep/old full/deep/f']);
      const entries = [
        { path: 'keep', type: 'directory', mode: 0o700 },
        { path: 'keep/new', type: 'file', content: 'new' },
        { path: 'full', type: 'file', content: 'a file' },
      ] as const;
      await lease.sandbox.upload(packEntries(entries), '/app');
      expect((await run(lease.sandbox, ['sh', '-c', 'ls keep; cat full; stat -c %a keep'])).stdout).toBe('new\nold\na file700\n');
    });

    test.skipIf(process.getuid?.() !== 0)('hides what only root may read on the host', async () => {
      await using lease = await provider.open(spec());
      expect((await run(lease.sandbox, ['sh', '-c', 'cat /etc/shadow | wc -c'])).stdout).toBe('0\n');
    });

    test('what became an orphan is reaped', async () => {
      await using lease = await provider.open(spec());
      const { stdout } = await run(lease.sandbox, [
        'sh',
        '-c',
        '(sh -c "sleep 0.05" &) ; sleep 0.4; cat /proc/[0-9]*/stat | grep -c " Z "; true',
      ]);
      expect(stdout).toBe('0\n');
    });

    test('a program that stops itself and is continued is seen to end', async () => {
      await using lease = await provider.open(spec());
      const ran = await run(lease.sandbox, ['sh', '-c', '(sleep 0.2; kill -CONT $$) & kill -STOP $$; echo went on'], {
        timeLimitMs: 20_000,
      });
      expect(ran).toMatchObject({ exit: { kind: 'exited', code: 0 }, stdout: 'went on\n' });
    });

    test('with the host’s network a server of the host is reached, without it is not', async () => {
      const server = (await import('node:net'))
        .createServer((socket) => socket.on('error', () => undefined).end('hello\n'))
        .listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      const script = `exec 3<>/dev/tcp/127.0.0.1/${port} && head -c 5 <&3`;
      await using open = await provider.open(spec({ network: { mode: 'public', hosts: [] } }));
      await using closed = await provider.open(spec());
      expect((await run(open.sandbox, ['bash', '-c', script])).stdout).toBe('hello');
      expect((await run(closed.sandbox, ['bash', '-c', script])).exit).toEqual({ kind: 'exited', code: 1 });
      const inside = await run(closed.sandbox, ['sh', '-c', 'ping -c1 -W1 127.0.0.1 >/dev/null 2>&1; cat /sys/class/net/lo/flags']);
      expect(inside.stdout).toBe('0x9\n');
      server.close();
    });

    test('kill -9 of the owner ends every process', async () => {
      const code = `
        const { localSandboxes } = await import(${JSON.stringify(join(import.meta.dirname, 'local.ts'))});
        const provider = localSandboxes({ environment: { PATH: ${JSON.stringify(PATH)} }, directory: ${JSON.stringify(join(directory, `dying-${name}`))} });
        const lease = await provider.open(${JSON.stringify(spec())});
        await lease.sandbox.exec(['sh', '-c', 'setsid sleep 4321 & (setsid sleep 4321 &) ; sleep 0.2'], {});
        void lease.sandbox.exec(['sleep', '4321'], {});
        setTimeout(() => console.log('up'), 300);`;
      const owner: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
      await Promise.race([once(owner.stdout!, 'data'), once(owner, 'exit')]);
      const below = descendantsOf(owner.pid!);
      expect(below.length).toBeGreaterThanOrEqual(5);
      owner.kill('SIGKILL');
      await once(owner, 'exit');
      for (let waited = 0; waited < 5000 && below.some(isThere); waited += 50) await sleep(50);
      expect(below.filter(isThere)).toEqual([]);
      // Its folder is for whoever sweeps.
      const later = localSandboxes({ environment: { PATH }, directory: join(directory, `dying-${name}`) });
      const things = await later.owned();
      expect(things.map((one) => one.labels.session)).toContain('sess_local');
      await later.remove(things);
      expect(readdirSync(join(directory, `dying-${name}`, 'local'))).toEqual([]);
    });

    test('a link planted inside leads no reader to the host’s files', async () => {
      writeFileSync(join(directory, 'secret.txt'), 'of the host');
      await using lease = await provider.open(spec());
      const links = `rm -rf /logs/verifier; ln -s ${directory} /logs/verifier; ln -s /proc/1/root${directory} /logs/agent/a; ln -s ../../../../../../../..${directory} /logs/agent/b; ln -s /proc/self/root /logs/agent/c; ln -s /proc/self/cwd /logs/agent/d`;
      await run(lease.sandbox, ['sh', '-c', links]);
      for (const path of [
        '/logs/verifier/secret.txt',
        '/logs/agent/a/secret.txt',
        '/logs/agent/b/secret.txt',
        `/logs/agent/c${directory}/secret.txt`,
        '/logs/agent/d/labels.json',
      ]) {
        expect(await lease.sandbox.download(path)).toBeNull();
      }
      expect(await lease.sandbox.realPath('/logs/verifier/secret.txt')).toBeNull();
      const entries = await readEntries((await lease.sandbox.download('/logs/verifier'))!, { maxFileBytes: 1000, maxFiles: 10 });
      expect(entries).toMatchObject([{ type: 'symlink', content: null }]);
      await expect(
        lease.sandbox.upload(packEntries([{ path: 'planted', type: 'file', content: 'x' }]), '/logs/verifier'),
      ).rejects.toThrow();
      expect(existsSync(join(directory, 'planted'))).toBe(false);
    });

    test('changes are told since the mark, with what a file held before', async () => {
      await using lease = await provider.open(spec());
      const given = [
        { path: 'kept', type: 'file', content: 'kept' },
        { path: 'sub/changed', type: 'file', content: 'before' },
        { path: 'gone', type: 'file', content: 'gone' },
      ] as const;
      await lease.sandbox.upload(packEntries([{ path: 'sub', type: 'directory' }, ...given]), '/app');
      expect(await lease.changes!()).toBeNull();
      await lease.mark();
      expect(await lease.changes!()).toEqual([]);
      await run(lease.sandbox, [
        'sh',
        '-c',
        'printf BEFORE >sub/changed; touch -d @0 sub/changed; rm gone; echo x >new; mkdir /opt/tool; ln -s a /opt/tool/link',
      ]);
      expect(await lease.changes!()).toEqual([
        { path: '/app/gone', kind: 'deleted' },
        { path: '/app/new', kind: 'added' },
        { path: '/app/sub/changed', kind: 'modified' },
        { path: '/opt/tool', kind: 'added' },
        { path: '/opt/tool/link', kind: 'added' },
      ]);
      expect(Buffer.from((await lease.original!('/app/sub/changed', 100))!).toString()).toBe('before');
      expect(await lease.original!('/app/sub/changed', 2)).toBeNull();
      expect(await lease.original!('/app/new', 100)).toBeNull();
    });

    test('what cannot be held is refused by name, and what is not limited is recorded', async () => {
      await expect(provider.open(spec({ user: 'postgres' }))).rejects.toMatchObject({ code: 'cannot_enforce' });
      await expect(provider.open(spec({ gpus: 1 }))).rejects.toMatchObject({ code: 'cannot_enforce' });
      await using lease = await provider.open(spec({ cpus: 2, storageMb: 100 }));
      expect(lease.facts).toMatchObject({
        isolation: 'namespaces',
        notEnforced: ['cpus', 'storage_mb'],
        network: { mode: 'none', enforced: true },
      });
    });

    test('directories closed to everyone are removed with the sandbox', async () => {
      const lease = await provider.open(spec());
      await run(lease.sandbox, ['sh', '-c', 'mkdir -p /app/a/b && touch /app/a/b/c && chmod 000 /app/a/b /app/a']);
      await lease[Symbol.asyncDispose]();
      expect(await provider.owned()).toEqual([]);
    });

    test('a shell for a person enters the same place', async () => {
      await using lease = await provider.open(spec());
      const [file, ...args] = lease.shellArgv!(['sh', '-c', 'pwd; grep CapEff /proc/self/status']);
      const text = execFileSync(file!, args, { encoding: 'utf8' });
      expect(text).toMatch(/^\/app\nCapEff:\t0{11}425fb\n$/);
    });
  });
}

describe('a host that lacks something', () => {
  const sentence = (PATH: string) => localSandboxes({ environment: { PATH }, directory }).unusable();

  test('neither bwrap nor unshare: the sentence has the line that installs one', async () => {
    expect(await sentence(pathWith('neither', {}))).toMatch(/needs bwrap or unshare.*: apt-get install bubblewrap/);
  });

  test('namespaces denied: the sentence has the reason and a remedy, and opening is refused with it', async () => {
    const PATH = pathWith('denied', {
      nsenter: nsenter ?? '/usr/bin/nsenter',
      bwrap: '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n',
    });
    expect(await sentence(PATH)).toMatch(/denies .*setting up uid map: Permission denied.*: .*(sysctl|--sandbox docker)/);
    await expect(localSandboxes({ environment: { PATH }, directory }).open(spec())).rejects.toMatchObject({ code: 'sandbox_unavailable' });
  });

  test('bwrap denied and unshare at hand: the second is used', async (context) => {
    if (nsenter === null || unshare === null) return context.skip('no unshare here');
    const PATH = pathWith('second', { nsenter, unshare, bwrap: '#!/bin/sh\nexit 1\n' });
    const provider = localSandboxes({ environment: { PATH }, directory });
    const reason = await provider.unusable();
    if (reason !== null) return context.skip(reason);
    expect((await provider.abilities()).engine).toBe('unshare');
  });
});

async function run(sandbox: Sandbox, argv: readonly string[], options: ExecOptions = {}) {
  const text = { stdout: '', stderr: '' };
  const exit = await sandbox.exec(argv, {
    stdout: (chunk) => {
      text.stdout += Buffer.from(chunk).toString();
    },
    stderr: (chunk) => {
      text.stderr += Buffer.from(chunk).toString();
    },
    ...options,
  });
  return { exit, ...text };
}

function descendantsOf(pid: number): string[] {
  const stats = listStats();
  const below = new Set([pid]);
  for (let grown = -1; grown !== below.size; ) {
    grown = below.size;
    for (const one of stats) if (below.has(one.parent)) below.add(one.pid);
  }
  below.delete(pid);
  return stats.filter((one) => below.has(one.pid)).map((one) => `${one.pid}:${one.startTicks}`);
}

function isThere(name: string): boolean {
  return listStats().some((one) => `${one.pid}:${one.startTicks}` === name && one.state !== 'Z');
}
