import { descendants, listStats, type ProcessStat, statOf } from '../../system/processes.ts';

/** Kills a process and everything below it. All are stopped first, so that none starts another meanwhile. */
export function killTree(root: number): void {
  const stopped = new Map<number, ProcessStat>();
  for (let grown = -1; grown !== stopped.size; ) {
    grown = stopped.size;
    const stats = listStats();
    const tree = [...stats.filter((one) => one.pid === root), ...descendants(root, stats)];
    for (const one of tree) {
      if (stopped.has(one.pid)) continue;
      stopped.set(one.pid, one);
      sendSignal(one.pid, 'SIGSTOP');
    }
  }
  for (const pid of stopped.keys()) sendSignal(pid, 'SIGKILL');
}

/** False when there is no such process, or it is not ours to signal. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Continues a stopped process that waits for a child which is not stopped itself. */
export function wakeIfChildRuns(pid: number): void {
  const own = statOf(pid);
  if (own?.state !== 'T') return;
  const child = listStats().find((one) => one.parent === pid);
  if (child?.state !== 'T') sendSignal(pid, 'SIGCONT');
}
