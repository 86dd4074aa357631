import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf } from '../../domain/errors.ts';
import type { ExecOptions, Exit } from '../../sandbox.ts';
import { type EngineClient, EngineRefusal } from './engine.ts';
import type { EngineEvents } from './events.ts';
import { ExecOutput } from './exec-output.ts';
import { feed, wantsStdin } from './exec-stdin.ts';
import { demultiplexer } from './multiplex.ts';

export type ExecPlace = {
  engine: EngineClient;
  events: EngineEvents;
  containerId: string;
  env: Readonly<Record<string, string>>;
  cwd: string;
  user: string | number | null;
  /** Why the container is gone; null = it runs. */
  whyGone(): Promise<string | null>;
  /** Whether processes can only be told apart by a variable in their environment. */
  marks: boolean;
  /** Ends an exec's process tree and returns when it has ended: `gone` = it had ended by itself. Rejects when neither can be established. */
  endTree(exec: ExecName): Promise<'ended' | 'gone'>;
};

export type ExecName = { id: string; mark: string | null };

/** Two calls: create and start. How it ended comes from the events, or is asked where they say nothing. */
export async function execInContainer(place: ExecPlace, argv: readonly string[], options: ExecOptions): Promise<Exit> {
  if (options.signal?.aborted === true) return { kind: 'aborted' };
  const mark = place.marks ? randomUUID() : null;
  let execId: string;
  try {
    execId = await createExec(place, argv, mark === null ? options : { ...options, env: { ...options.env, [EXEC_MARK]: mark } });
  } catch (error) {
    return await refusedStart(place, error);
  }
  const exit = place.events.exitOf(execId);
  try {
    return await runExec(place, { id: execId, mark }, exit.code, options);
  } catch (error) {
    return await refusedStart(place, error);
  } finally {
    exit.forget();
  }
}

async function createExec(place: ExecPlace, argv: readonly string[], options: ExecOptions): Promise<string> {
  const user = options.user ?? place.user;
  const reply = await place.engine.read(CreatedSchema, 'POST', `/containers/${place.containerId}/exec`, {
    body: {
      Cmd: argv,
      User: user === null ? '' : String(user),
      WorkingDir: options.cwd ?? place.cwd,
      Env: Object.entries({ ...place.env, ...options.env }).map(([name, value]) => `${name}=${value}`),
      AttachStdin: wantsStdin(options),
      AttachStdout: true,
      AttachStderr: true,
      Tty: options.tty !== undefined,
      ...(options.tty === undefined ? {} : { ConsoleSize: [options.tty.rows, options.tty.columns] }),
    },
  });
  return reply.Id;
}

async function runExec(place: ExecPlace, exec: ExecName, exitCode: Promise<number>, options: ExecOptions): Promise<Exit> {
  const tty = options.tty !== undefined;
  const { socket, before } = await place.engine.upgrade(`/exec/${exec.id}/start`, {
    body: { Detach: false, Tty: tty, ...(options.tty === undefined ? {} : { ConsoleSize: [options.tty.rows, options.tty.columns] }) },
  });
  const output = new ExecOutput(options, () => hasStarted(place.engine, exec.id));
  const take = tty
    ? (chunk: Buffer) => output.stdout(chunk)
    : demultiplexer(
        (part) => output.stdout(part),
        (part) => output.stderr(part),
      );
  const streamEnded = new Promise<void>((resolve) => {
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.on('end', () => resolve());
  });
  if (before.length > 0) take(before);
  socket.on('data', take);
  const feeding = wantsStdin(options) ? feed(socket, options.stdin) : null;
  const cut = new Cut(options);
  try {
    const natural = endOf(place, exec.id, exitCode, streamEnded);
    for (;;) {
      const first = await Promise.race([natural, cut.happened]);
      if (first !== 'timed_out' && first !== 'aborted') return await output.settle(first, streamEnded);
      if ((await place.endTree(exec)) === 'ended') return await output.settle({ kind: first }, streamEnded);
      // It had ended by itself just before: what it ended with is the truth.
      return await output.settle(await natural, streamEnded);
    }
  } catch (error) {
    return { kind: 'lost', cause: messageOf(error) };
  } finally {
    output.close();
    cut.forget();
    feeding?.stop();
    socket.destroy();
  }
}

/** The engine knows a pid of everything that ever started. */
async function hasStarted(engine: EngineClient, execId: string): Promise<boolean> {
  return (await engine.read(ExecStateSchema, 'GET', `/exec/${execId}/json`)).Pid !== 0;
}

/** How the process ended, by the engine's facts. */
async function endOf(place: ExecPlace, execId: string, exitCode: Promise<number>, streamEnded: Promise<void>): Promise<Exit> {
  const heard = await Promise.race([exitCode, streamEnded]);
  if (typeof heard === 'number') return await exitFrom(place, heard);
  const said = await Promise.race([exitCode, sleep(EVENT_GRACE_MS)]);
  if (typeof said === 'number') return await exitFrom(place, said);
  for (let waitMs = 5; ; waitMs = Math.min(waitMs * 2, 1000)) {
    let state: z.infer<typeof ExecStateSchema>;
    try {
      state = await place.engine.read(ExecStateSchema, 'GET', `/exec/${execId}/json`);
    } catch (error) {
      return { kind: 'lost', cause: (await place.whyGone()) ?? messageOf(error) };
    }
    if (!state.Running && state.ExitCode !== null) {
      if (state.Pid === 0) return { kind: 'not_started', reason: '' };
      return await exitFrom(place, state.ExitCode);
    }
    const late = await Promise.race([exitCode, sleep(waitMs)]);
    if (typeof late === 'number') return await exitFrom(place, late);
  }
}

/**
 * The engine tells of a signal as 128 + its number, which a program may also exit with: a shell does when its last child was killed. Only for
 * SIGKILL, which no program can answer, is the signal what must be assumed; the other numbers stay exit codes.
 */
async function exitFrom(place: ExecPlace, code: number): Promise<Exit> {
  if (code !== KILLED) return { kind: 'exited', code };
  // A container that is killed loses its execs a moment before itself.
  for (const waitMs of [0, 50, 150]) {
    await sleep(waitMs);
    const cause = await place.whyGone();
    if (cause !== null) return { kind: 'lost', cause };
  }
  return { kind: 'signalled', signal: 'SIGKILL' };
}

async function refusedStart(place: ExecPlace, error: unknown): Promise<Exit> {
  const cause = await place.whyGone().catch(messageOf);
  if (cause !== null) return { kind: 'lost', cause };
  if (error instanceof EngineRefusal && error.status !== 409) return { kind: 'not_started', reason: error.message };
  return { kind: 'lost', cause: messageOf(error) };
}

/** The limit or the caller's signal, whichever comes first. */
class Cut {
  readonly happened: Promise<'timed_out' | 'aborted'>;
  readonly forget: () => void;

  constructor(options: ExecOptions) {
    const { promise, resolve } = Promise.withResolvers<'timed_out' | 'aborted'>();
    const { signal } = options;
    const limit = options.timeLimitMs ?? null;
    const timer = limit === null ? null : setTimeout(() => resolve('timed_out'), limit);
    const onAbort = () => resolve('aborted');
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    this.happened = promise;
    this.forget = () => {
      if (timer !== null) clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
  }
}

export const EXEC_MARK = 'PROCTOR_EXEC';
const KILLED = 128 + 9;
const EVENT_GRACE_MS = 20;

const CreatedSchema = z.looseObject({ Id: z.string() });
export const ExecStateSchema = z.looseObject({ Running: z.boolean(), ExitCode: z.number().nullable(), Pid: z.number() });
