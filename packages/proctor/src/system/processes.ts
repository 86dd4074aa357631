import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import process from 'node:process';
import { bootIdByProgram, listByProgram } from './ps.ts';

/** What the kernel says cheaply of every process; filters see this much. */
export type ProcessStat = {
  pid: number;
  parent: number;
  /** Session leader's pid as the host sees it; 0 where it is not told. */
  session: number;
  /** Clock ticks since boot; with the pid and the boot id it names one process for ever. Where there is no /proc: start in epoch seconds. */
  startTicks: number;
  /** One letter: R S D T t Z X I. */
  state: string;
};

export type HostProcess = ProcessStat & {
  argv: string[];
  uid: number;
  /** The pid in its own, innermost pid namespace. */
  namespacePid: number;
  /** `pid:[4026531836]`; null where we may not look. */
  pidNamespace: string | null;
};

/** A process named so that a reused pid or another boot is never mistaken for it. */
export type Owner = { bootId: string; pid: number; startTicks: number };

/** Processes of this host as they are now. One that vanishes in mid-read is left out; `filter` runs before the costlier reads. */
export function listProcesses(filter: (found: ProcessStat) => boolean = () => true): HostProcess[] {
  if (process.platform !== 'linux') return listByProgram().filter(filter);
  const read = procReader();
  return processIds().flatMap((pid) => {
    const stat = parseStat(read(`/proc/${pid}/stat`));
    return stat === null || !filter(stat) ? [] : (complete(stat, read) ?? []);
  });
}

/** The whole of processes already found; those that ended since are left out. */
export function withDetails(stats: readonly ProcessStat[]): HostProcess[] {
  if (process.platform !== 'linux') {
    const wanted = new Set(stats.map((one) => one.pid));
    return listByProgram().filter((one) => wanted.has(one.pid));
  }
  const read = procReader();
  return stats.flatMap((stat) => complete(stat, read) ?? []);
}

/** Pids, parents, start and state only: the cheapest list. */
export function listStats(): ProcessStat[] {
  if (process.platform !== 'linux') return listByProgram();
  const read = procReader();
  return processIds().flatMap((pid) => parseStat(read(`/proc/${pid}/stat`)) ?? []);
}

/** Everything below `of` by parentage, zombies too, `of` itself not. A process whose parent died first has left the tree. */
export function descendants(of: number | Iterable<number>, among: readonly ProcessStat[] = listStats()): ProcessStat[] {
  const children = new Map<number, ProcessStat[]>();
  for (const one of among) {
    const siblings = children.get(one.parent);
    if (siblings === undefined) children.set(one.parent, [one]);
    else siblings.push(one);
  }
  const seen = new Set<number>();
  const found: ProcessStat[] = [];
  const queue = typeof of === 'number' ? [of] : [...of];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    if (seen.has(pid)) continue;
    seen.add(pid);
    for (const child of children.get(pid) ?? []) {
      found.push(child);
      queue.push(child.pid);
    }
  }
  return found;
}

/** TCP ports that this process listens on, in its own network namespace, sorted; null = may not be looked at, or gone. */
export function listeningPorts(pid: number): number[] | null {
  if (process.platform !== 'linux') return null;
  try {
    const sockets = new Set<string>();
    for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOrNull(`/proc/${pid}/fd/${descriptor}`) ?? '')?.[1];
      if (inode !== undefined) sockets.add(inode);
    }
    if (sockets.size === 0) return [];
    const ports = new Set<number>();
    for (const table of ['tcp', 'tcp6']) {
      for (const line of textOrEmpty(`/proc/${pid}/net/${table}`).split('\n').slice(1)) {
        const columns = line.trim().split(/\s+/);
        if (columns[3] === TCP_LISTEN && sockets.has(columns[9] ?? '')) ports.add(Number.parseInt(columns[1]?.split(':')[1] ?? '', 16));
      }
    }
    return [...ports].sort((a, b) => a - b);
  } catch {
    return null;
  }
}

/** `pid:[4026531836]`; null where there are none, or we may not look. */
export function pidNamespaceOf(pid: number): string | null {
  return linkOrNull(`/proc/${pid}/ns/pid`);
}

/** Changes with every boot of this kernel. */
export function bootId(): string {
  return process.platform === 'linux' ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : bootIdByProgram();
}

export function ownProcess(): Owner {
  return ownerOf(process.pid) ?? { bootId: bootId(), pid: process.pid, startTicks: 0 };
}

/** The lasting name of a live process; null when there is none of that pid. */
export function ownerOf(pid: number): Owner | null {
  const stat = statOf(pid);
  return stat === null ? null : { bootId: bootId(), pid, startTicks: stat.startTicks };
}

/** False only where the owner is provably gone: another boot, no such pid, a zombie, or the pid now belongs to a later process. */
export function isAlive(owner: Owner): boolean {
  if (owner.bootId !== bootId()) return false;
  const stat = statOf(owner.pid);
  return stat !== null && stat.startTicks === owner.startTicks && stat.state !== 'Z' && stat.state !== 'X';
}

/** A name that no later process of the same boot gets. */
export function lastingName(one: ProcessStat): string {
  return `${one.pid}:${one.startTicks}`;
}

/** `<boot id>:<pid>:<start>`, for labels and rows. */
export function ownerText(owner: Owner): string {
  return `${owner.bootId}:${owner.pid}:${owner.startTicks}`;
}

/** Null for a text that is no owner: nobody can prove anything about it. */
export function parseOwner(text: string): Owner | null {
  const parts = /^([^:\s]+):(\d+):(\d+)$/.exec(text);
  return parts?.[1] === undefined ? null : { bootId: parts[1], pid: Number(parts[2]), startTicks: Number(parts[3]) };
}

/** When a process started, in milliseconds since the epoch; null where it cannot be told. */
export function startedAtMs(startTicks: number): number | null {
  if (process.platform !== 'linux') return startTicks * 1000;
  const boot = /^btime (\d+)$/m.exec(textOrEmpty('/proc/stat'))?.[1];
  return boot === undefined ? null : Number(boot) * 1000 + startTicks * (1000 / TICKS_PER_SECOND);
}

/** One process of the host; null when it is gone. */
export function statOf(pid: number): ProcessStat | null {
  if (process.platform !== 'linux') return listByProgram().find((one) => one.pid === pid) ?? null;
  return parseStat(textOrEmpty(`/proc/${pid}/stat`));
}

/** USER_HZ: 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;
const TCP_LISTEN = '0A';

function processIds(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

/** The command may hold spaces and parentheses: fields are counted from its last closing one. */
function parseStat(text: string): ProcessStat | null {
  const close = text.lastIndexOf(')');
  if (close < 0) return null;
  const fields = text.slice(close + 2).split(' ');
  const stat = {
    pid: Number.parseInt(text, 10),
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTicks: Number(fields[19]),
    state: fields[0] ?? '?',
  };
  return Number.isNaN(stat.pid) || Number.isNaN(stat.startTicks) ? null : stat;
}

function complete(stat: ProcessStat, read: (path: string) => string): HostProcess | null {
  const status = read(`/proc/${stat.pid}/status`);
  if (status === '') return null;
  const commandLine = read(`/proc/${stat.pid}/cmdline`);
  return {
    ...stat,
    argv: commandLine === '' ? [] : commandLine.replace(/\0$/, '').split('\0'),
    uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1] ?? -1),
    namespacePid: Number(/^NSpid:.*?(\d+)$/m.exec(status)?.[1] ?? stat.pid),
    pidNamespace: pidNamespaceOf(stat.pid),
  };
}

/** One buffer for a whole walk: files of /proc have no size, and readFileSync would grow one for each. */
function procReader(): (path: string) => string {
  let buffer = Buffer.allocUnsafe(16_384);
  return (path) => {
    let file: number;
    try {
      file = openSync(path, 'r');
    } catch {
      return '';
    }
    try {
      let length = 0;
      for (;;) {
        const got = readSync(file, buffer, length, buffer.length - length, null);
        if (got === 0) return buffer.toString('utf8', 0, length);
        length += got;
        if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      }
    } catch {
      return '';
    } finally {
      closeSync(file);
    }
  };
}

function textOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function linkOrNull(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
