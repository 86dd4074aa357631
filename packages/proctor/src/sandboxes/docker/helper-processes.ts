import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../domain/errors.ts';
import type { EngineClient } from './engine.ts';
import { EXEC_MARK, type ExecName, ExecStateSchema } from './exec.ts';
import type { Helper } from './helper.ts';
import type { InsideProcess, ProcessView, SignalName, Target } from './processes.ts';

/** Looks and signals through a helper container: for an engine on another kernel, or one whose processes we may not signal from here. */
export class HelperProcesses implements ProcessView {
  #engine: EngineClient;
  #helper: Helper;

  constructor(engine: EngineClient, helper: Helper) {
    this.#engine = engine;
    this.#helper = helper;
  }

  async list(): Promise<InsideProcess[]> {
    return (await this.#look()).map((one) => one.process);
  }

  async listening(pids: readonly number[]): Promise<Map<number, number[]>> {
    const answers = await this.#helper.ask((part) =>
      pids
        .map(
          (pid) =>
            `${part(`sockets ${pid}`)}; ls -l /proc/${pid}/fd; ${part(`tables ${pid}`)}; cat /proc/${pid}/net/tcp /proc/${pid}/net/tcp6\n`,
        )
        .join(''),
    );
    return new Map(pids.map((pid) => [pid, portsOf(answers.get(`sockets ${pid}`) ?? '', answers.get(`tables ${pid}`) ?? '')]));
  }

  async send(targets: readonly Target[], signal: SignalName): Promise<void> {
    const one = ({ pid, startTicks }: Target) =>
      `s=$(cat /proc/${pid}/stat) && s="\${s##*) }" && set -- $s && [ "\${20}" = ${startTicks} ] && kill -${signal.replace(/^SIG/, '')} ${pid}\n`;
    await this.#helper.ask(() => targets.map(one).join(''));
  }

  async rootOf(exec: ExecName): Promise<number | null> {
    for (let waitMs = 20; waitMs < ROOT_LIMIT_MS; waitMs *= 2) {
      const state = await this.#engine.read(ExecStateSchema, 'GET', `/exec/${exec.id}/json`);
      if (!state.Running) return null;
      const roots = (await this.#look()).filter(({ process: one }) => one.parent === 0 && one.pid !== 1 && one.state !== 'Z');
      const [found, another] = roots.filter((one) => exec.mark !== null && one.mark === exec.mark);
      if (found !== undefined && another === undefined) return found.process.pid;
      await sleep(waitMs);
    }
    throw new AppError('sandbox_lost', `it cannot be found out which process inside is exec ${exec.id.slice(0, 12)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#helper[Symbol.asyncDispose]();
  }

  async #look(): Promise<{ process: InsideProcess; mark: string | null }[]> {
    const answers = await this.#helper.ask(
      (part) => `
        ${part('boot')}; while read -r k v; do [ "$k" = btime ] && echo "$v"; done < /proc/stat
        ${part('self')}; echo $$
        for d in /proc/[0-9]*; do p=\${d#/proc/}
          ${part('stat $p')}; cat $d/stat || { [ -d $d ] && ${part('unread $p')}; }; ${part('status $p')}; cat $d/status || { [ -d $d ] && ${part('unread $p')}; }; ${part('cmdline $p')}; cat $d/cmdline; ${part('environ $p')}; cat $d/environ
        done`,
    );
    const self = Number(answers.get('self'));
    const bootMs = Number(answers.get('boot')) * 1000;
    if (!(self > 1) || !(bootMs > 0)) throw new AppError('sandbox_lost', 'the helper container could not read /proc');
    // A process that is there and could not be read: somebody ends our readers. Absence would be a guess.
    if ([...answers.keys()].some((key) => key.startsWith('unread ')))
      throw new AppError('sandbox_lost', 'a process inside could not be looked at');
    const found = [...answers.keys()].flatMap((key) => {
      const pid = /^stat (\d+)$/.exec(key)?.[1];
      return pid === undefined ? [] : (described(Number(pid), answers, bootMs) ?? []);
    });
    const ours = new Set([self]);
    for (let grown = 0; grown !== ours.size; ) {
      grown = ours.size;
      for (const { process: one } of found) if (ours.has(one.parent)) ours.add(one.pid);
    }
    const seen = found.filter(({ process: one }) => !ours.has(one.pid));
    if (!seen.some(({ process: one }) => one.pid === 1)) throw new AppError('sandbox_lost', 'the container has no main process any more');
    return seen;
  }
}

/** Null for one that ended while it was looked at. */
function described(
  pid: number,
  answers: ReadonlyMap<string, string>,
  bootMs: number,
): { process: InsideProcess; mark: string | null } | null {
  const stat = answers.get(`stat ${pid}`) ?? '';
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTicks = Number(fields[19]);
  const status = answers.get(`status ${pid}`) ?? '';
  if (stat === '' || status === '' || Number.isNaN(startTicks)) return null;
  const environment = (answers.get(`environ ${pid}`) ?? '').split('\0');
  return {
    process: {
      pid,
      parent: Number(fields[1]),
      startTicks,
      state: fields[0] ?? '?',
      argv: (answers.get(`cmdline ${pid}`) ?? '').split('\0').slice(0, -1),
      uid: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1] ?? -1),
      startedAtMs: bootMs + startTicks * MS_PER_TICK,
    },
    mark: environment.find((entry) => entry.startsWith(`${EXEC_MARK}=`))?.slice(EXEC_MARK.length + 1) ?? null,
  };
}

function portsOf(descriptors: string, tables: string): number[] {
  const sockets = new Set(Array.from(descriptors.matchAll(/socket:\[(\d+)\]/g), (match) => match[1]));
  const ports = tables.split('\n').flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    return columns[3] === TCP_LISTEN && sockets.has(columns[9]) ? [Number.parseInt(columns[1]?.split(':')[1] ?? '', 16)] : [];
  });
  return [...new Set(ports)].sort((a, b) => a - b);
}

const ROOT_LIMIT_MS = 4000;
const MS_PER_TICK = 10;
const TCP_LISTEN = '0A';
