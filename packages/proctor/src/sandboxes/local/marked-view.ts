import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { descendants, type HostProcess, lastingName, listStats, type ProcessStat, withDetails } from '../../system/processes.ts';
import type { ProcessView } from './phase-processes.ts';

/** Every plain process of ours carries it: one that has left the tree is found by it. */
export const MARKER = 'PROCTOR_PLAIN_SESSION';

/**
 * Plain processes of one Session: what descends from a program that we started, what carries the Session's marker in its environment, what descends
 * from either, and what once did. A process that drops its environment and its parents between two looks is not found.
 */
export class MarkedView implements ProcessView {
  readonly #marker: string;
  readonly #roots = new Set<number>();
  readonly #seen = new Set<string>();

  constructor(marker: string) {
    this.#marker = marker;
  }

  started(pid: number): void {
    this.#roots.add(pid);
  }

  ended(pid: number): void {
    this.#roots.delete(pid);
  }

  alive(): HostProcess[] {
    const stats = listStats();
    const heads = stats.filter((one) => this.#roots.has(one.pid) || this.#seen.has(lastingName(one)) || this.#carries(one));
    const found = new Map(
      [
        ...heads,
        ...descendants(
          heads.map((one) => one.pid),
          stats,
        ),
      ].map((one) => [one.pid, one]),
    );
    const alive = [...found.values()].filter((one) => one.state !== 'Z' && one.state !== 'X');
    for (const one of alive) this.#seen.add(lastingName(one));
    return withDetails(alive);
  }

  userOf(uid: number): string {
    const own = userInfo();
    return uid === own.uid ? own.username : String(uid);
  }

  #carries(one: ProcessStat): boolean {
    try {
      const environment = `\0${readFileSync(`/proc/${one.pid}/environ`, 'latin1')}`;
      return environment.includes(`\0${MARKER}=${this.#marker}\0`);
    } catch {
      // Another user's, or gone: not one of ours.
      return false;
    }
  }
}
