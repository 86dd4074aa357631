import { lstat, mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { posix } from 'node:path';
import { AppError } from '../../domain/errors.ts';
import type { ExecOptions, Exit, LeftProcess, Sandbox, SandboxFacts, SandboxLease } from '../../sandbox.ts';
import { packTar } from './files.ts';
import { MARKER, MarkedView } from './marked-view.ts';
import { PhaseProcesses } from './phase-processes.ts';
import { PipeStock } from './pipes.ts';
import { extractBelow, isBelow, placeBelow, realBelow } from './plain-files.ts';
import { runProgram } from './run-program.ts';
import { killTree } from './tree.ts';

export type PlainWorld = {
  /** Holds the pipes and the root. */
  folder: string;
  /** Real path of what stands for `/`. */
  root: string;
  marker: string;
  facts: SandboxFacts;
  env: Readonly<Record<string, string>>;
  tar: string;
  sh: string;
  path: string;
  remove: () => Promise<void>;
};

/** Processes of this host below one directory. They are found again by descent and by a variable, and nothing keeps them in. */
export class PlainLease implements SandboxLease {
  readonly facts: SandboxFacts;
  readonly sandbox: Sandbox;
  /** Nothing but disposal ends it. */
  readonly lost: Promise<string>;
  readonly #world: PlainWorld;
  readonly #view: MarkedView;
  readonly #processes: PhaseProcesses;
  readonly #pipes: PipeStock;
  #disposed: Promise<void> | null = null;
  #lose: (cause: string) => void = () => undefined;

  constructor(world: PlainWorld) {
    this.#world = world;
    this.facts = world.facts;
    this.#view = new MarkedView(world.marker);
    this.#processes = new PhaseProcesses(this.#view);
    this.#pipes = new PipeStock(world.folder);
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    this.sandbox = {
      exec: (argv, options) => this.#exec(argv, options),
      upload: (tar, path) => this.#ifThere(() => extractBelow(world.root, tar, this.#inside(path))),
      download: (path) => this.#ifThere(() => this.#download(path)),
      realPath: (path) => this.#ifThere(() => this.#realPath(path)),
      inside: (path) => this.#inside(path),
    };
  }

  async mark(): Promise<void> {
    this.#processes.mark();
  }

  async left(): Promise<LeftProcess[]> {
    return this.#processes.left();
  }

  async signal(left: readonly LeftProcess[], action: 'kill' | 'stop' | 'continue'): Promise<void> {
    await this.#processes.signal(left, action);
  }

  async pause(): Promise<AsyncDisposable> {
    const resume = this.#processes.stopAll();
    return { [Symbol.asyncDispose]: async () => resume() };
  }

  /** Somebody else removed the folder. */
  lose(cause: string): void {
    this.#lose(cause);
    void this[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= (async () => {
      this.#processes.killAll();
      await this.#world.remove().catch(() => undefined);
    })();
    return this.#disposed;
  }

  /** A path that already is as processes see it stays so. */
  #inside(path: string): string {
    const { root } = this.#world;
    const clean = posix.normalize(path);
    return isBelow(root, clean) ? clean : posix.join(root, posix.normalize(`/${clean}`)).replace(/(.)\/+$/, '$1');
  }

  async #exec(argv: readonly string[], options: ExecOptions): Promise<Exit> {
    const cwd = this.#inside(options.cwd ?? this.facts.workdir);
    const refusal = refusalOf(argv, options);
    if (refusal !== null) return { kind: 'not_started', reason: refusal };
    if (this.#disposed !== null) return { kind: 'lost', cause: 'the sandbox was removed' };
    if ((await lstat(cwd).catch(() => null)) === null) return { kind: 'not_started', reason: `no such directory: ${cwd}` };
    let pid = 0;
    try {
      const exit = await runProgram(
        { file: String(argv[0]), args: argv.slice(1), cwd, env: { ...this.#world.env, ...options.env, [MARKER]: this.#world.marker } },
        {
          ...options,
          pipes: this.#pipes,
          killTree,
          onStart: (started) => {
            pid = started;
            this.#view.started(pid);
          },
        },
      );
      return exit.kind === 'signalled' && this.#disposed !== null ? { kind: 'lost', cause: 'the sandbox was removed' } : exit;
    } finally {
      this.#view.ended(pid);
    }
  }

  async #download(path: string): Promise<AsyncIterable<Uint8Array> | null> {
    const place = await placeBelow(this.#world.root, this.#inside(path));
    if (place === null) return null;
    return packTar(
      (argv) => ({ file: argv[0] === 'sh' ? this.#world.sh : this.#world.tar, args: argv.slice(1), env: { PATH: this.#world.path } }),
      place,
    );
  }

  async #realPath(path: string): Promise<string | null> {
    const real = await realBelow(this.#world.root, this.#inside(path));
    return real === null ? null : `/${posix.relative(this.#world.root, real)}`;
  }

  async #ifThere<T>(work: () => Promise<T>): Promise<T> {
    if (this.#disposed !== null) throw new AppError('sandbox_lost', 'the sandbox is gone: it was removed');
    await mkdir(this.#world.root, { recursive: true });
    return work();
  }
}

function refusalOf(argv: readonly string[], options: ExecOptions): string | null {
  if (argv.length === 0) return 'an empty command';
  if (!isOwnUser(options.user)) return `user ${options.user} was asked for: plain processes run as ${userInfo().username}`;
  if (options.tty !== undefined) return 'a terminal was asked for: plain processes have none';
  return null;
}

export function isOwnUser(user: string | number | null | undefined): boolean {
  const own = userInfo();
  return user === undefined || user === null || ['', own.username, String(own.uid)].includes(String(user));
}
