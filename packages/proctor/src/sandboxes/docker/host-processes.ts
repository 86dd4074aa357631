import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../domain/errors.ts';
import { type HostProcess, listeningPorts, listProcesses, startedAtMs, statOf, withDetails } from '../../system/processes.ts';
import { cgroupMembers } from './cgroup-members.ts';
import type { EngineClient } from './engine.ts';
import { type ExecName, ExecStateSchema } from './exec.ts';
import type { InsideProcess, ProcessView, SignalName, Target } from './processes.ts';

/** Whether `pid` is, on this very kernel, a process of that container: a pid of another machine's engine names someone else here. */
export function isOfContainer(pid: number, containerId: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(containerId);
  } catch {
    return false;
  }
}

/** Looks through this host's own /proc: no call to the engine, and nothing inside the container takes part. */
export class HostProcesses implements ProcessView {
  #engine: EngineClient;
  #containerId: string;
  #mainPid: number;
  #mainStart: number;

  /** `mainPid` must be of the container, see `isOfContainer`. */
  constructor(engine: EngineClient, containerId: string, mainPid: number) {
    this.#engine = engine;
    this.#containerId = containerId;
    this.#mainPid = mainPid;
    this.#mainStart = statOf(mainPid)?.startTicks ?? 0;
  }

  async list(): Promise<InsideProcess[]> {
    const found = this.#read();
    const inside = new Map(found.map((one) => [one.pid, one.namespacePid]));
    return found.map((one) => ({
      pid: one.namespacePid,
      parent: inside.get(one.parent) ?? 0,
      startTicks: one.startTicks,
      state: one.state,
      argv: one.argv,
      uid: one.uid,
      startedAtMs: startedAtMs(one.startTicks),
    }));
  }

  async listening(pids: readonly number[]): Promise<Map<number, number[]>> {
    const wanted = new Set(pids);
    return new Map(
      this.#read().flatMap((one) => (wanted.has(one.namespacePid) ? [[one.namespacePid, listeningPorts(one.pid) ?? []]] : [])),
    );
  }

  async send(targets: readonly Target[], signal: SignalName): Promise<void> {
    const wanted = new Map(targets.map((one) => [one.pid, one.startTicks]));
    for (const one of this.#read()) {
      if (wanted.get(one.namespacePid) !== one.startTicks) continue;
      try {
        process.kill(one.pid, signal);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
      }
    }
  }

  async rootOf(exec: ExecName): Promise<number | null> {
    for (let waitMs = 5; waitMs < ROOT_LIMIT_MS; waitMs *= 2) {
      const state = await this.#engine.read(ExecStateSchema, 'GET', `/exec/${exec.id}/json`);
      if (state.Pid === 0) {
        if (!state.Running) return null;
        // Created, not yet started.
        await sleep(waitMs);
        continue;
      }
      const found = this.#read().find((one) => one.pid === state.Pid);
      if (found !== undefined) return found.state === 'Z' ? null : found.namespacePid;
      if (!state.Running || statOf(state.Pid) === null || !isOfContainer(state.Pid, this.#containerId)) return null;
      await sleep(waitMs);
    }
    throw new AppError('sandbox_lost', `the engine does not say which process exec ${exec.id.slice(0, 12)} is`);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #read(): HostProcess[] {
    const members = cgroupMembers(this.#mainPid, this.#containerId);
    const found =
      members === null
        ? listProcesses((stat) => stat.startTicks >= this.#mainStart && isOfContainer(stat.pid, this.#containerId))
        : withDetails(members.flatMap((pid) => statOf(pid) ?? []));
    if (!found.some((one) => one.pid === this.#mainPid)) {
      throw new AppError('sandbox_lost', `container ${this.#containerId.slice(0, 12)} has no main process any more`);
    }
    const own = found.find((one) => one.pid === this.#mainPid)?.pidNamespace ?? null;
    return found.map((one) => (one.pidNamespace === own ? one : { ...one, namespacePid: pidOneLevelDown(one) }));
  }
}

/** For a process in a pid namespace below the container's: its pid as the container, not as that namespace, counts. */
function pidOneLevelDown(one: HostProcess): number {
  try {
    const pids = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${one.pid}/status`, 'utf8'))?.[1]?.split(/\s+/) ?? [];
    return Number(pids[1] ?? one.namespacePid);
  } catch {
    return one.namespacePid;
  }
}

const ROOT_LIMIT_MS = 4000;
