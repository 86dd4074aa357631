import { readlinkSync } from 'node:fs';
import type { LeftProcess } from '../../sandbox.ts';
import {
  descendants,
  type HostProcess,
  listeningPorts,
  listStats,
  type ProcessStat,
  startedAtMs,
  statOf,
  withDetails,
} from '../../system/processes.ts';
import { sendSignal } from './tree.ts';

/** The processes of one pid namespace, seen and signalled from the host: nothing inside is asked. */
export class Inside {
  readonly #keeper: ProcessStat;
  readonly #namespace: string;
  #marked = new Set<string>();

  /** `keeper` = host pid of the namespace's process 1. */
  constructor(keeper: number) {
    const stat = statOf(keeper);
    if (stat === null) throw new Error(`the sandbox's process 1 (${keeper}) is gone`);
    this.#keeper = stat;
    this.#namespace = readlinkSync(`/proc/${keeper}/ns/pid`);
  }

  mark(): void {
    this.#marked = new Set(this.alive().map(lastingName));
  }

  left(): LeftProcess[] {
    const all = this.alive();
    const marked = all.filter((one) => this.#marked.has(lastingName(one))).map((one) => one.pid);
    const spared = new Set([...marked, ...descendants(marked, all).map((one) => one.pid)]);
    const innerPid = new Map(all.map((one) => [one.pid, one.namespacePid]));
    return all
      .filter((one) => !spared.has(one.pid))
      .map((one) => ({
        pid: one.namespacePid,
        parent: innerPid.get(one.parent) ?? (one.parent === this.#keeper.pid ? 1 : 0),
        argv: one.argv.join(' '),
        user: 'root',
        listening: listeningPorts(one.pid) ?? [],
        startedAt: startedAtMs(one.startTicks),
      }));
  }

  /** Those that are still the processes that were listed. */
  signal(left: readonly LeftProcess[], signal: NodeJS.Signals): void {
    const named = new Map(this.alive().map((one) => [one.namespacePid, one]));
    for (const { pid, startedAt } of left) {
      const found = named.get(pid);
      if (found !== undefined && startedAtMs(found.startTicks) === startedAt) sendSignal(found.pid, signal);
    }
  }

  /** Stops everything that runs, again until nothing new has appeared; gives what it stopped. */
  stopAll(): HostProcess[] {
    const stopped = new Map<number, HostProcess>();
    for (let grown = -1; grown !== stopped.size; ) {
      grown = stopped.size;
      for (const one of this.alive()) {
        if (stopped.has(one.pid) || one.state === 'T') continue;
        stopped.set(one.pid, one);
        sendSignal(one.pid, 'SIGSTOP');
      }
    }
    return [...stopped.values()];
  }

  /** Whether process 1, and with it the namespace, is there. */
  exists(): boolean {
    const now = statOf(this.#keeper.pid);
    return now !== null && now.startTicks === this.#keeper.startTicks && now.state !== 'Z' && now.state !== 'X';
  }

  /** No zombies, not process 1, and nothing of its session, which no process inside can join. */
  alive(): HostProcess[] {
    if (!this.exists()) throw new Error('the processes of this sandbox cannot be listed: it is gone');
    // Everything inside descends from us: by the program that entered, or by process 1.
    const candidates = descendants(process.pid, listStats()).filter(
      (one) => one.state !== 'Z' && one.state !== 'X' && one.session !== this.#keeper.session,
    );
    return withDetails(candidates).filter((one) => one.pidNamespace === this.#namespace);
  }
}

export function lastingName(one: ProcessStat): string {
  return `${one.pid}:${one.startTicks}`;
}
