import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { ask, type Finding, missing, ok, type ProgramResult, warning } from './finding.ts';

/** Node, kernel, memory and the programs that the local sandbox and the git source use. */
export async function hostFindings(): Promise<Finding[]> {
  const [userNamespaces, bubblewrap, git] = await Promise.all([userNamespaceFinding(), bubblewrapFinding(), gitFinding()]);
  return [
    ok('node', `${process.versions.node} (${process.execPath})`),
    ok('platform', `${process.platform}-${process.arch}, ${libc()}, kernel ${os.release()}`),
    ok('processors', `${os.availableParallelism()} of ${os.cpus().length}`),
    memoryFinding(),
    cgroupFinding(),
    userNamespaces,
    bubblewrap,
    git,
  ];
}

/** `glibc 2.41`, `musl`, or the system's own. */
export function libc(): string {
  if (process.platform !== 'linux') return 'system libc';
  const report: unknown = process.report.getReport();
  const header = typeof report === 'object' && report !== null && 'header' in report ? report.header : null;
  const version = typeof header === 'object' && header !== null && 'glibcVersionRuntime' in header ? header.glibcVersionRuntime : null;
  return version === null ? 'musl' : `glibc ${String(version)}`;
}

export function cgroupVersion(): 1 | 2 | null {
  if (existsSync('/sys/fs/cgroup/cgroup.controllers')) return 2;
  return existsSync('/sys/fs/cgroup/memory') || existsSync('/sys/fs/cgroup/cpu') ? 1 : null;
}

function memoryFinding(): Finding {
  const total = os.totalmem() / 1024 ** 3;
  const free = process.availableMemory() / 1024 ** 3;
  const text = `${free.toFixed(1)} of ${total.toFixed(1)} GiB free`;
  return free < 1 ? warning('memory', text, 'close other programs, or pass --concurrency 1') : ok('memory', text);
}

function cgroupFinding(): Finding {
  const version = cgroupVersion();
  return version === null
    ? { name: 'cgroups', state: 'unknown', value: 'not found below /sys/fs/cgroup', fix: null }
    : ok('cgroups', `v${version}`);
}

async function userNamespaceFinding(): Promise<Finding> {
  if (process.platform !== 'linux') return { name: 'user namespaces', state: 'unknown', value: 'Linux only', fix: null };
  const tried = await ask('unshare', '--user', '--map-root-user', 'true');
  if (tried.kind === 'ran' && tried.code === 0) return ok('user namespaces', 'can be made');
  if (tried.kind !== 'ran') return { name: 'user namespaces', state: 'unknown', value: 'no unshare program to try with', fix: null };
  const value = 'cannot be made by this user: the local sandbox needs them';
  if (setting('kernel/unprivileged_userns_clone') === '0')
    return missing('user namespaces', value, 'sudo sysctl -w kernel.unprivileged_userns_clone=1');
  if (setting('kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return missing('user namespaces', value, 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0');
  }
  if (setting('user/max_user_namespaces') === '0')
    return missing('user namespaces', value, 'sudo sysctl -w user.max_user_namespaces=15000');
  return missing('user namespaces', value, 'run outside this container, or with --security-opt seccomp=unconfined');
}

async function bubblewrapFinding(): Promise<Finding> {
  if (process.platform !== 'linux') return { name: 'bubblewrap', state: 'unknown', value: 'Linux only', fix: null };
  return programFinding(
    'bubblewrap',
    await ask('bwrap', '--version'),
    'not installed: the local sandbox needs it',
    installLine('bubblewrap'),
  );
}

async function gitFinding(): Promise<Finding> {
  return programFinding(
    'git',
    await ask('git', '--version'),
    'not installed: tasks of a git URL and files that git ignores need it',
    installLine('git'),
  );
}

function programFinding(name: string, result: ProgramResult, absent: string, fix: string): Finding {
  if (result.kind === 'ran' && result.code === 0) return ok(name, /\d[\w.+-]*/.exec(result.stdout)?.[0] ?? result.stdout.trim());
  return missing(name, result.kind === 'absent' ? absent : 'does not run', fix);
}

export function installLine(name: string): string {
  if (process.platform === 'darwin') return `brew install ${name}`;
  const release = readOrEmpty('/etc/os-release');
  if (/^ID(_LIKE)?=.*(fedora|rhel|centos)/m.test(release)) return `sudo dnf install ${name}`;
  if (/^ID(_LIKE)?=.*arch/m.test(release)) return `sudo pacman -S ${name}`;
  if (/^ID(_LIKE)?=.*alpine/m.test(release)) return `sudo apk add ${name}`;
  return `sudo apt-get install ${name}`;
}

function setting(name: string): string | null {
  const text = readOrEmpty(`/proc/sys/${name}`).trim();
  return text === '' ? null : text;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
