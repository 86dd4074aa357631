import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { messageOf } from '../../domain/errors.ts';
import type { ExecOptions, Exit } from '../../sandbox.ts';
import type { PipeStock } from './pipes.ts';
import { killTree } from './tree.ts';

export type Program = {
  /** Absolute path on the host. */
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd?: string;
  /** The program says on descriptor 3 why what it was to start cannot be started, and closes it when it could. */
  tellsStart?: boolean;
};

export type RunOptions = Pick<ExecOptions, 'stdin' | 'timeLimitMs' | 'stdout' | 'stderr' | 'signal'> & {
  pipes: PipeStock;
  /** Ends the processes below this pid; default: by descent. */
  killTree?: (pid: number) => void;
  onStart?: (pid: number) => void;
};

/** Runs one host program to its end: its streams apart, its limit kept, whatever still holds its output left behind. */
export async function runProgram(program: Program, options: RunOptions): Promise<Exit> {
  if (options.signal?.aborted === true) return { kind: 'aborted' };
  const { stdin: source, pipes } = options;
  const opened: Socket[] = [];
  const theirs: number[] = [];
  const pipe = async (direction: 'read' | 'write') => {
    const made = await pipes.take(direction);
    opened.push(made.ours);
    theirs.push(made.theirs);
    return made;
  };
  let child: ChildProcess;
  let ends: Ends;
  try {
    const held = source instanceof Uint8Array ? await pipes.holding(source) : null;
    if (held !== null) theirs.push(held);
    const stdin = isSource(source) ? await pipe('write') : null;
    const stdout = options.stdout === undefined ? null : await pipe('read');
    const stderr = options.stderr === undefined ? null : await pipe('read');
    ends = { stdin: stdin?.ours ?? null, stdout: stdout?.ours ?? null, stderr: stderr?.ours ?? null };
    const teller = program.tellsStart === true ? 'pipe' : 'ignore';
    const stdio = [stdin?.theirs ?? held ?? 'ignore', stdout?.theirs ?? 'ignore', stderr?.theirs ?? 'ignore', teller] as const;
    // Of its own session: a terminal's Ctrl-C is ours alone to answer.
    child = spawn(program.file, program.args, { env: { ...program.env }, cwd: program.cwd, detached: true, stdio: [...stdio] });
  } catch (error) {
    for (const end of opened) end.destroy();
    return { kind: 'not_started', reason: messageOf(error) };
  } finally {
    for (const descriptor of theirs) closeSync(descriptor);
  }
  return watched(child, options, ends);
}

type Ends = { stdin: Socket | null; stdout: Socket | null; stderr: Socket | null };

async function watched(child: ChildProcess, options: RunOptions, ends: Ends): Promise<Exit> {
  let cut: 'timed_out' | 'aborted' | null = null;
  const end = (why: 'timed_out' | 'aborted') => {
    if (cut !== null || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    cut = why;
    (options.killTree ?? killTree)(child.pid);
  };
  const timer = typeof options.timeLimitMs === 'number' ? setTimeout(() => end('timed_out'), options.timeLimitMs) : null;
  const abort = () => end('aborted');
  options.signal?.addEventListener('abort', abort, { once: true });
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ kind: 'not_started', reason: messageOf(error) }));
    child.once('exit', (code, signal) => resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'signalled', signal }));
  });
  if (child.pid !== undefined) options.onStart?.(child.pid);
  if (options.signal?.aborted === true) abort();
  const outputs = [new Output(ends.stdout, options.stdout), new Output(ends.stderr, options.stderr)];
  const refusal = collectRefusal(child);
  if (ends.stdin !== null && typeof options.stdin === 'object' && !(options.stdin instanceof Uint8Array))
    void pump(ends.stdin, options.stdin);
  const exit = await exited;
  if (timer !== null) clearTimeout(timer);
  options.signal?.removeEventListener('abort', abort);
  ends.stdin?.destroy();
  await Promise.all(outputs.map((output) => output.drained()));
  if (cut !== null) return { kind: cut };
  const reason = await refusal;
  return reason === '' ? exit : { kind: 'not_started', reason };
}

/** What the program says on descriptor 3; it cannot be held open by what it started, for that is closed first. */
function collectRefusal(child: ChildProcess): Promise<string> {
  const teller = child.stdio[3];
  if (teller === null || teller === undefined) return Promise.resolve('');
  return new Promise((resolve) => {
    let text = '';
    if ('setEncoding' in teller) teller.setEncoding('utf8');
    teller.on('data', (chunk: string) => {
      text += chunk;
    });
    teller.once('error', () => resolve(text));
    teller.once('close', () => resolve(text));
  });
}

function isSource(stdin: ExecOptions['stdin']): stdin is AsyncIterable<Uint8Array> {
  return typeof stdin === 'object' && !(stdin instanceof Uint8Array);
}

async function pump(stdin: Socket, source: AsyncIterable<Uint8Array>): Promise<void> {
  const closed = new Promise<void>((resolve) => stdin.once('close', () => resolve()));
  // A program that reads no further is no error.
  stdin.on('error', () => stdin.destroy());
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), closed]);
      if (next === undefined || next.done === true) break;
      if (!stdin.write(next.value)) await Promise.race([new Promise((resolve) => stdin.once('drain', resolve)), closed]);
    }
    stdin.end();
  } catch {
    // The source broke: the program sees the end of its input, and the source's owner knows why.
    stdin.end();
  } finally {
    void iterator.return?.().catch(() => undefined);
  }
}

const DRAIN_MS = 250;

/** One output stream, read to its end, or after the program's end until what remains in the pipe is read. */
class Output {
  readonly #stream: Socket | null;
  readonly #closed: Promise<void>;
  #sink: ((chunk: Uint8Array) => void) | undefined;
  #chunks = 0;

  constructor(stream: Socket | null, sink: ((chunk: Uint8Array) => void) | undefined) {
    this.#stream = stream;
    this.#sink = sink;
    this.#closed = stream === null ? Promise.resolve() : new Promise((resolve) => stream.once('close', () => resolve()));
    stream?.on('error', () => stream.destroy());
    stream?.on('data', (chunk: Buffer) => {
      this.#chunks += 1;
      this.#sink?.(chunk);
    });
  }

  async drained(): Promise<void> {
    if (this.#stream === null) return;
    const deadline = performance.now() + 4 * DRAIN_MS;
    const over = timeout(DRAIN_MS);
    await Promise.race([this.#closed, over.passed]);
    over.stop();
    // The timer may have come before a pipe's last bytes were looked at: only a pass of the loop without any ends it.
    for (let before = -1; before !== this.#chunks && performance.now() < deadline && !this.#stream.destroyed; ) {
      before = this.#chunks;
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    }
    this.#leave(this.#stream);
  }

  /**
   * What a server in the background still says is read and dropped, not too fast: a closed pipe would end it at its next line, and the check
   * of a task would then find it dead.
   */
  #leave(stream: Socket): void {
    this.#sink = undefined;
    stream.unref();
    stream.on('data', () => {
      stream.pause();
      setTimeout(() => stream.resume(), 20).unref();
    });
  }
}

function timeout(ms: number): { passed: Promise<void>; stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { passed, stop: () => clearTimeout(timer) };
}
