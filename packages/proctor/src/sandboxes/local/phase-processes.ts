import { setTimeout as sleep } from 'node:timers/promises';
import type { LeftProcess } from '../../sandbox.ts';
import { descendants, type HostProcess, lastingName, listeningPorts, startedAtMs } from '../../system/processes.ts';
import { sendSignal } from './tree.ts';

/** Live processes of one sandbox, as the host sees them: no zombies, none of ours. Throws when they cannot be listed. */
export type ProcessView = { alive(): HostProcess[]; userOf(uid: number): string };

const SIGNALS = { kill: 'SIGKILL', stop: 'SIGSTOP', continue: 'SIGCONT' } as const;
const END_LIMIT_MS = 5000;
const END_LOOK_MS = 5;

/** What ran at the mark, and what was started since. */
export class PhaseProcesses {
  readonly #view: ProcessView;
  #marked = new Set<string>();

  constructor(view: ProcessView) {
    this.#view = view;
  }

  mark(): void {
    this.#marked = new Set(this.#view.alive().map(lastingName));
  }

  left(): LeftProcess[] {
    const all = this.#view.alive();
    const marked = all.filter((one) => this.#marked.has(lastingName(one))).map((one) => one.pid);
    const spared = new Set([...marked, ...descendants(marked, all).map((one) => one.pid)]);
    const innerPid = new Map(all.map((one) => [one.pid, one.namespacePid]));
    return all
      .filter((one) => !spared.has(one.pid))
      .map((one) => ({
        pid: one.namespacePid,
        // A parent that is not of the sandbox's own: process 1, or the program that entered.
        parent: innerPid.get(one.parent) ?? 1,
        argv: one.argv.join(' '),
        user: this.#view.userOf(one.uid),
        listening: listeningPorts(one.pid) ?? [],
        startedAt: startedAtMs(one.startTicks),
      }));
  }

  /** Those that are still the processes that were listed. A killed one takes a moment to end: this resolves when it has. */
  async signal(left: readonly LeftProcess[], action: 'kill' | 'stop' | 'continue'): Promise<void> {
    for (const one of this.#stillThere(left)) sendSignal(one.pid, SIGNALS[action]);
    if (action !== 'kill') return;
    for (let waited = 0; waited < END_LIMIT_MS && this.#stillThere(left).length > 0; waited += END_LOOK_MS) await sleep(END_LOOK_MS);
  }

  #stillThere(left: readonly LeftProcess[]): HostProcess[] {
    const named = new Map(this.#view.alive().map((one) => [one.namespacePid, one]));
    return left.flatMap(({ pid, startedAt }) => {
      const found = named.get(pid);
      return found !== undefined && startedAtMs(found.startTicks) === startedAt ? [found] : [];
    });
  }

  /** Stops everything that runs, again until nothing new has appeared. Gives what continues it. */
  stopAll(): () => void {
    const stopped = new Map<number, string>();
    for (let grown = -1; grown !== stopped.size; ) {
      grown = stopped.size;
      for (const one of this.#view.alive()) {
        if (stopped.has(one.pid) || one.state === 'T') continue;
        stopped.set(one.pid, lastingName(one));
        sendSignal(one.pid, 'SIGSTOP');
      }
    }
    return () => {
      for (const one of this.#view.alive()) if (stopped.get(one.pid) === lastingName(one)) sendSignal(one.pid, 'SIGCONT');
    };
  }

  /** Kills everything, again until nothing is alive: what is stopped first cannot start another. */
  killAll(): void {
    for (let round = 0; round < 50; round++) {
      this.stopAll();
      const alive = this.#view.alive();
      if (alive.length === 0) return;
      for (const one of alive) sendSignal(one.pid, 'SIGKILL');
    }
  }
}
