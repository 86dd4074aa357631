import { execFileSync } from 'node:child_process';
import type { HostProcess } from './processes.ts';

/** Processes where there is no /proc (macOS): slower, starts in whole seconds, no namespaces. An argv is split at blanks. */
export function listByProgram(): HostProcess[] {
  const text = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,uid=,state=,lstart=,command='], {
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    env: { LC_ALL: 'C' },
  });
  return parseProcessList(text);
}

export function bootIdByProgram(): string {
  const text = execFileSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' });
  const seconds = /sec = (\d+)/.exec(text)?.[1];
  return seconds === undefined ? text.replace(/[:\s]+/g, '-') : `boot-${seconds}`;
}

export function parseProcessList(text: string): HostProcess[] {
  return text.split('\n').flatMap((line) => {
    const parts = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S)\S*\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s*(.*)$/.exec(line);
    if (parts?.[5] === undefined) return [];
    const pid = Number(parts[1]);
    return {
      pid,
      parent: Number(parts[2]),
      session: 0,
      uid: Number(parts[3]),
      state: parts[4] ?? '?',
      startTicks: Math.floor(Date.parse(parts[5]) / 1000),
      argv: (parts[6] ?? '').split(/\s+/).filter((word) => word !== ''),
      namespacePid: pid,
      pidNamespace: null,
    };
  });
}
