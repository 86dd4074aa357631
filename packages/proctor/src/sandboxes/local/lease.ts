import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { AppError } from '../../domain/errors.ts';
import type { Change, ExecOptions, Exit, LeftProcess, Sandbox, SandboxFacts, SandboxLease, Snapshot } from '../../sandbox.ts';
import { Before } from './before.ts';
import { type Entrance, enterArgv, helperArgv, shellArgv } from './enter.ts';
import { isRoot } from './facts.ts';
import { extractTar, packTar, realPathOf, type ToolArgv } from './files.ts';
import { NamespaceView } from './namespace-view.ts';
import { PhaseProcesses } from './phase-processes.ts';
import { PipeStock } from './pipes.ts';
import { runProgram } from './run-program.ts';
import { packSnapshot, unpackSnapshot } from './snapshot.ts';
import { sendSignal, wakeIfChildRuns } from './tree.ts';

export type LocalWorld = {
  folder: string;
  /** The program that made the namespaces; its end is the sandbox's end. */
  maker: ChildProcess;
  entrance: Entrance;
  facts: SandboxFacts;
  env: Readonly<Record<string, string>>;
  /** Paths that are the host's or the kernel's: in no snapshot and no change. */
  foreign: readonly string[];
  remove: () => Promise<void>;
  /** A labelled folder for a copy of this sandbox's files, and how it goes away. */
  makeCopyFolder: () => Promise<{ folder: string; remove: () => Promise<void> }>;
  /** Another sandbox as this one was when it began. */
  openAgain: () => Promise<LocalLease>;
};

/** One namespace set, entered from outside for every exec. */
export class LocalLease implements SandboxLease {
  readonly facts: SandboxFacts;
  readonly sandbox: Sandbox;
  readonly lost: Promise<string>;
  readonly #world: LocalWorld;
  readonly #view: NamespaceView;
  readonly #processes: PhaseProcesses;
  readonly #pipes: PipeStock;
  /** Host pids of the programs that entered and wait for what they started. */
  readonly #entered = new Set<number>();
  /** Programs of ours in the sandbox's files; process 1's end does not end them. */
  readonly #helpers = new Set<ChildProcess>();
  #before: Before | null = null;
  #uploads = 0;
  #gone: string | null = null;
  #disposed: Promise<void> | null = null;

  constructor(world: LocalWorld) {
    this.#world = world;
    this.facts = world.facts;
    this.#view = new NamespaceView(world.entrance.pid);
    this.#processes = new PhaseProcesses(this.#view);
    this.#pipes = new PipeStock(world.folder);
    this.lost = new Promise((resolve) => {
      world.maker.once('exit', (code, signal) => {
        this.#gone = `the sandbox's first process ended (${signal ?? code})`;
        if (this.#disposed === null) resolve(this.#gone);
      });
    });
    this.sandbox = {
      exec: (argv, options) => this.#exec(argv, options),
      upload: (tar, path) => this.#ifThere(() => extractTar(this.#tool, tar, path, `${world.folder}/upload-${this.#uploads++}.tar`)),
      download: (path) => this.#ifThere(() => packTar(this.#tool, path)),
      realPath: (path) => this.#ifThere(() => realPathOf(this.#tool, path)),
      inside: (path) => path,
    };
  }

  async mark(): Promise<void> {
    const { foreign, folder } = this.#world;
    this.#before ??= await Before.take(this.#tool, foreign, folder, this.facts.workdir);
    this.#processes.mark();
  }

  async left(): Promise<LeftProcess[]> {
    return this.#processes.left();
  }

  async signal(left: readonly LeftProcess[], action: 'kill' | 'stop' | 'continue'): Promise<void> {
    await this.#processes.signal(left, action);
    if (action !== 'stop') this.#wakeEntered();
  }

  /** Since the first mark: what was uploaded before it is no change of anybody. */
  changes(): Promise<Change[] | null> {
    return this.#ifThere(async () => (this.#before === null ? null : await this.#before.changes()));
  }

  original(path: string, maxBytes: number): Promise<Uint8Array | null> {
    return this.#ifThere(async () => (this.#before === null ? null : await this.#before.original(path, maxBytes)));
  }

  snapshot(): Promise<Snapshot> {
    return this.#ifThere(async () => {
      const { folder, remove } = await this.#world.makeCopyFolder();
      try {
        return await packSnapshot(this.#tool, folder, this.#world.foreign, remove);
      } catch (error) {
        await remove().catch(() => undefined);
        throw error;
      }
    });
  }

  async openVerifier(from: Snapshot): Promise<SandboxLease> {
    const fresh = await this.#world.openAgain();
    try {
      await unpackSnapshot(fresh.#tool, from.id, this.#world.foreign);
      return fresh;
    } catch (error) {
      await fresh[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Stopped and continued by signals: a process inside that is continued by another meanwhile runs. */
  async pause(): Promise<AsyncDisposable> {
    const resume = this.#processes.stopAll();
    return {
      [Symbol.asyncDispose]: async () => {
        if (!this.#view.exists()) return;
        resume();
        this.#wakeEntered();
      },
    };
  }

  /** As the agent's programs enter, with the terminal of whoever runs it. */
  shellArgv(command: readonly string[]): string[] {
    const { entrance, env } = this.#world;
    const words = Object.entries({ ...env, TERM: 'xterm-256color' }).map(([name, value]) => `${name}=${value}`);
    return shellArgv(entrance, this.facts.workdir, words, command);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#end();
    return this.#disposed;
  }

  readonly #tool: ToolArgv = (argv) => {
    const { entrance } = this.#world;
    return {
      file: entrance.programs.nsenter,
      args: helperArgv(entrance, argv),
      env: { PATH: '/usr/bin:/bin' },
      started: (child) => this.#watchHelper(child),
    };
  };

  #watchHelper(child: ChildProcess): void {
    this.#helpers.add(child);
    child.once('close', () => this.#helpers.delete(child));
  }

  async #exec(argv: readonly string[], options: ExecOptions): Promise<Exit> {
    const refusal = refusalOf(argv, options);
    if (refusal !== null) return { kind: 'not_started', reason: refusal };
    if (this.#gone !== null || this.#disposed !== null) return { kind: 'lost', cause: this.#gone ?? 'the sandbox was removed' };
    const { entrance, facts, env } = this.#world;
    const entry = enterArgv(entrance, argv, options.cwd ?? facts.workdir, { ...env, ...options.env });
    let entered = 0;
    const watch = setInterval(() => this.#wakeEntered(), 250);
    try {
      const exit = await runProgram(
        { file: entrance.programs.nsenter, args: entry.args, env: entry.env, tellsStart: true },
        {
          ...options,
          pipes: this.#pipes,
          onStart: (pid) => {
            entered = pid;
            this.#entered.add(pid);
          },
        },
      );
      // The end of process 1 kills everything inside: the program did not choose to end.
      const lost = exit.kind === 'signalled' && exit.signal === 'SIGKILL' && (await this.#isEnding());
      return lost ? { kind: 'lost', cause: this.#gone ?? 'the sandbox was removed' } : exit;
    } finally {
      clearInterval(watch);
      this.#entered.delete(entered);
    }
  }

  /** Process 1 is seen to end a little after what it takes with it. */
  async #isEnding(): Promise<boolean> {
    for (let looks = 0; looks < 5; looks++) {
      if (this.#disposed !== null || this.#gone !== null || !this.#view.exists()) return true;
      await setTimeout(15);
    }
    return false;
  }

  /** nsenter stops itself when its child is stopped, and would then never see it end. */
  #wakeEntered(): void {
    for (const pid of this.#entered) wakeIfChildRuns(pid);
  }

  async #ifThere<T>(work: () => Promise<T>): Promise<T> {
    if (this.#gone !== null || this.#disposed !== null)
      throw new AppError('sandbox_lost', `the sandbox is gone: ${this.#gone ?? 'it was removed'}`);
    return work();
  }

  async #end(): Promise<void> {
    const { maker, entrance, remove } = this.#world;
    if (this.#gone === null && maker.exitCode === null && maker.signalCode === null) {
      const exited = once(maker, 'exit');
      sendSignal(entrance.pid, 'SIGKILL');
      await exited;
    }
    for (const pid of this.#entered) sendSignal(pid, 'SIGKILL');
    for (const helper of this.#helpers) helper.kill('SIGKILL');
    await remove().catch(() => undefined);
  }
}

function refusalOf(argv: readonly string[], options: ExecOptions): string | null {
  if (argv.length === 0) return 'an empty command';
  if (!isRoot(options.user)) return `user ${options.user} was asked for: the local sandbox has one user, root`;
  if (options.tty !== undefined) return 'a terminal was asked for: the local sandbox has none';
  return null;
}
