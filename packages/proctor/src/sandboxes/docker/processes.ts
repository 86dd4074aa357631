import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../domain/errors.ts';
import type { LeftProcess } from '../../sandbox.ts';
import type { ExecName } from './exec.ts';

/** A process as the container sees it: pids are those inside, a parent outside is 0. */
export type InsideProcess = {
  pid: number;
  parent: number;
  startTicks: number;
  state: string;
  argv: string[];
  uid: number;
  startedAtMs: number | null;
};

export type Target = { pid: number; startTicks: number };
export type SignalName = 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';

/** Contract: a way to look into a container and to signal there that trusts nothing inside it. Rejects when it cannot know. */
export interface ProcessView extends AsyncDisposable {
  /** Everything alive or zombie in the container, PID 1 included, helpers of ours not. */
  list(): Promise<InsideProcess[]>;
  listening(pids: readonly number[]): Promise<Map<number, number[]>>;
  /** A process that is gone meanwhile, or another of the same pid, is passed over. */
  send(targets: readonly Target[], signal: SignalName): Promise<void>;
  /** The pid inside of an exec's first process; null = it has ended. */
  rootOf(exec: ExecName): Promise<number | null>;
}

/** What may be left, and what must end. The only state is what ran at the mark. */
export class ContainerProcesses implements AsyncDisposable {
  #view: ProcessView;
  #marked: ReadonlyMap<number, number> = new Map();

  constructor(view: ProcessView) {
    this.#view = view;
  }

  async mark(): Promise<void> {
    this.#marked = new Map((await this.#view.list()).map((one) => [one.pid, one.startTicks]));
  }

  async left(): Promise<LeftProcess[]> {
    const all = await this.#view.list();
    const spared = withDescendants(all, (one) => one.pid !== 1 && this.#marked.get(one.pid) === one.startTicks);
    const found = all.filter((one) => one.pid !== 1 && isLive(one) && !spared.has(one.pid));
    if (found.length === 0) return [];
    const ports = await this.#view.listening(found.map((one) => one.pid));
    return found.map((one) => ({
      pid: one.pid,
      parent: one.parent,
      argv: one.argv.join(' '),
      user: String(one.uid),
      listening: ports.get(one.pid) ?? [],
      startedAt: one.startedAtMs,
    }));
  }

  async signal(left: readonly LeftProcess[], action: 'kill' | 'stop' | 'continue'): Promise<void> {
    const wanted = new Map(left.map((one) => [one.pid, one.startedAt]));
    const find = (all: InsideProcess[]) => all.filter((one) => one.pid !== 1 && isLive(one) && wanted.get(one.pid) === one.startedAtMs);
    const targets = find(await this.#view.list());
    if (targets.length === 0) return;
    await this.#view.send(targets, SIGNALS[action]);
    if (action === 'kill') await this.#untilEnded(targets);
  }

  /** Stops the tree from the top down before it kills, so that nothing forks away meanwhile. */
  async endTree(exec: ExecName): Promise<'ended' | 'gone'> {
    const root = await this.#view.rootOf(exec);
    if (root === null) return 'gone';
    const stopped = new Map<number, Target>();
    for (;;) {
      const all = await this.#view.list();
      const tree = withDescendants(all, (one) => one.pid === root || stopped.get(one.pid)?.startTicks === one.startTicks);
      const fresh = all.filter((one) => tree.has(one.pid) && isLive(one) && stopped.get(one.pid)?.startTicks !== one.startTicks);
      if (fresh.length === 0) break;
      await this.#view.send(fresh, 'SIGSTOP');
      for (const one of fresh) stopped.set(one.pid, one);
    }
    const targets = [...stopped.values()];
    if (targets.length === 0) return 'gone';
    await this.#view.send(targets, 'SIGKILL');
    await this.#untilEnded(targets);
    return 'ended';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#view[Symbol.asyncDispose]();
  }

  async #untilEnded(targets: readonly Target[]): Promise<void> {
    const deadline = Date.now() + END_LIMIT_MS;
    for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 200)) {
      const alive = new Map((await this.#view.list()).filter(isLive).map((one) => [one.pid, one.startTicks]));
      const still = targets.filter((one) => alive.get(one.pid) === one.startTicks);
      if (still.length === 0) return;
      if (Date.now() > deadline) {
        throw new AppError(
          'sandbox_lost',
          `processes ${still.map((one) => one.pid).join(', ')} did not end ${END_LIMIT_MS} ms after SIGKILL`,
        );
      }
      await sleep(waitMs);
    }
  }
}

function isLive(one: InsideProcess): boolean {
  return one.state !== 'Z' && one.state !== 'X';
}

function withDescendants(all: readonly InsideProcess[], isRoot: (one: InsideProcess) => boolean): Set<number> {
  const tree = new Set(all.filter(isRoot).map((one) => one.pid));
  for (let grown = -1; grown !== tree.size; ) {
    grown = tree.size;
    for (const one of all) if (one.pid !== 1 && tree.has(one.parent)) tree.add(one.pid);
  }
  return tree;
}

const SIGNALS = { kill: 'SIGKILL', stop: 'SIGSTOP', continue: 'SIGCONT' } as const;
const END_LIMIT_MS = 10_000;
