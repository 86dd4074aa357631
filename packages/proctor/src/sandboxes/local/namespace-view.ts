import { descendants, type HostProcess, listStats, type ProcessStat, pidNamespaceOf, statOf, withDetails } from '../../system/processes.ts';
import type { ProcessView } from './phase-processes.ts';

/** The processes of one pid namespace, seen from the host: nothing inside is asked. */
export class NamespaceView implements ProcessView {
  readonly #keeper: ProcessStat;
  readonly #namespace: string;

  /** `keeper` = host pid of the namespace's process 1. */
  constructor(keeper: number) {
    const stat = statOf(keeper);
    if (stat === null) throw new Error(`the sandbox's process 1 (${keeper}) is gone`);
    this.#keeper = stat;
    const namespace = pidNamespaceOf(keeper);
    if (namespace === null) throw new Error(`the namespaces of process ${keeper} cannot be looked at`);
    this.#namespace = namespace;
  }

  /** Whether process 1, and with it the namespace, is there. */
  exists(): boolean {
    const now = statOf(this.#keeper.pid);
    return now !== null && now.startTicks === this.#keeper.startTicks && now.state !== 'Z' && now.state !== 'X';
  }

  /** Without process 1 and what is of its session, which no process inside can join. */
  alive(): HostProcess[] {
    if (!this.exists()) throw new Error('the processes of this sandbox cannot be listed: it is gone');
    // Everything inside descends from us: by the program that entered, or by process 1.
    const candidates = descendants(process.pid, listStats()).filter(
      (one) => one.state !== 'Z' && one.state !== 'X' && one.session !== this.#keeper.session,
    );
    return withDetails(candidates.filter((one) => pidNamespaceOf(one.pid) === this.#namespace));
  }

  /** One user of the host is mapped, to root. */
  userOf(): string {
    return 'root';
  }
}
