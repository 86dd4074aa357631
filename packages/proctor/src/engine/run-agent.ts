import type { Agent, AgentMessage } from '../agent.ts';
import { messageOf } from '../domain/errors.ts';
import type { EventData } from '../domain/events.ts';
import type { Redaction } from '../domain/redaction.ts';
import type { Exit, Sandbox } from '../sandbox.ts';
import { keepOutput } from './kept-output.ts';
import { OutputKeeper } from './output-keeper.ts';
import type { EngineParts } from './parts.ts';
import { placedArgv, placeVariables } from './places.ts';
import { FEEDBACK_FILE, INSTRUCTION_FILE } from './provision.ts';

const OUTPUT_BYTES = 256 * 1024;
/** The kernel takes no longer string in an environment. */
const MAX_VARIABLE_BYTES = 100 * 1024;

export type AgentRun = {
  agent: Agent;
  sandbox: Sandbox;
  workdir: string;
  user: string | number | null;
  input: string;
  feedback: string | null;
  iteration: number;
  attemptsLeft: number;
  timeLimitMs: number | null;
  signal: AbortSignal;
  redaction: Redaction;
  onMessage(message: AgentMessage): void;
  /** Each stream in order, redacted, in pieces. */
  onOutput(stream: 'stdout' | 'stderr', text: string): void;
};

export type AgentRunEnd =
  | { kind: 'completed'; data: EventData<'run.completed'> }
  | { kind: 'failed'; data: EventData<'run.failed'> }
  | { kind: 'interrupted'; activeMs: number };

/** One stretch of agent work: however it ends, that is an outcome, never an exception. */
export async function runAgent(parts: EngineParts, run: AgentRun): Promise<AgentRunEnd> {
  const start = parts.clock.elapsed();
  const stdout = new OutputKeeper(OUTPUT_BYTES);
  const stderr = new OutputKeeper(OUTPUT_BYTES);
  const ended =
    run.agent.speaks.kind === 'command'
      ? await runCommand(run, run.agent.speaks.argv, stdout, stderr)
      : await runDriver(run, run.agent.speaks.drive);
  const activeMs = Math.round(parts.clock.elapsed() - start);
  if (ended.kind === 'interrupted') return { kind: 'interrupted', activeMs };
  const outputs = { stdout: await keepOutput(parts.store, stdout), stderr: await keepOutput(parts.store, stderr) };
  if (ended.kind === 'completed') return { kind: 'completed', data: { exit: ended.exit, active_ms: activeMs, ...outputs } };
  return {
    kind: 'failed',
    data: { reason: ended.reason, detail: run.redaction.text(ended.detail), exit: ended.exit, active_ms: activeMs, ...outputs },
  };
}

type Ended =
  | { kind: 'completed'; exit: Exit | null }
  | { kind: 'failed'; reason: EventData<'run.failed'>['reason']; detail: string; exit: Exit | null }
  | { kind: 'interrupted' };

async function runCommand(run: AgentRun, argv: readonly string[], stdout: OutputKeeper, stderr: OutputKeeper): Promise<Ended> {
  const { sandbox } = run;
  const out = tee(stdout, run, 'stdout');
  const err = tee(stderr, run, 'stderr');
  const exit = await sandbox.exec(placedArgv(argv, sandbox, run.workdir), {
    user: run.user,
    cwd: run.workdir,
    env: { ...run.agent.environment, ...runVariables(run) },
    timeLimitMs: run.timeLimitMs,
    stdout: out.push,
    stderr: err.push,
    signal: run.signal,
  });
  out.end();
  err.end();
  return fromExit(exit, run.timeLimitMs);
}

function fromExit(exit: Exit, timeLimitMs: number | null): Ended {
  switch (exit.kind) {
    case 'exited':
      return exit.code === 0
        ? { kind: 'completed', exit }
        : { kind: 'failed', reason: 'non_zero_exit', detail: `the agent exited ${exit.code}`, exit };
    case 'signalled':
      return { kind: 'failed', reason: 'non_zero_exit', detail: `the agent was ended by ${exit.signal}`, exit };
    case 'timed_out':
      return { kind: 'failed', reason: 'timed_out', detail: `the agent passed its limit of ${(timeLimitMs ?? 0) / 1000} s`, exit };
    case 'not_started':
      return { kind: 'failed', reason: 'not_started', detail: exit.reason, exit };
    case 'lost':
      return { kind: 'failed', reason: 'infrastructure', detail: exit.cause, exit };
    case 'aborted':
      return { kind: 'interrupted' };
    default:
      return exit satisfies never;
  }
}

async function runDriver(run: AgentRun, drive: Extract<Agent['speaks'], { kind: 'driver' }>['drive']): Promise<Ended> {
  const { sandbox } = run;
  const limit = run.timeLimitMs === null ? null : AbortSignal.timeout(run.timeLimitMs);
  const signal = limit === null ? run.signal : AbortSignal.any([run.signal, limit]);
  const stopped = new Promise<Ended>((resolve) => {
    const stop = () =>
      resolve(
        run.signal.aborted
          ? { kind: 'interrupted' }
          : {
              kind: 'failed',
              reason: 'timed_out',
              detail: `the agent passed its limit of ${(run.timeLimitMs ?? 0) / 1000} s`,
              exit: { kind: 'timed_out' },
            },
      );
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  let lost: string | null = null;
  const exec: Sandbox['exec'] = async (argv, options) => {
    const env = { ...run.agent.environment, ...runVariables(run), ...options.env };
    const exit = await sandbox.exec(argv, {
      user: run.user,
      cwd: run.workdir,
      ...options,
      env,
      signal: options.signal === undefined ? signal : AbortSignal.any([signal, options.signal]),
    });
    if (exit.kind === 'lost') lost ??= exit.cause;
    return exit;
  };
  const driven = (async (): Promise<Ended> => {
    try {
      const end = await drive({
        exec,
        upload: (tar, path) => sandbox.upload(tar, path),
        download: (path) => sandbox.download(path),
        input: run.input,
        feedback: run.feedback,
        iteration: run.iteration,
        workdir: run.workdir,
        emit: run.onMessage,
        signal,
      });
      if (lost !== null) return { kind: 'failed', reason: 'infrastructure', detail: lost, exit: null };
      return end.kind === 'completed'
        ? { kind: 'completed', exit: null }
        : { kind: 'failed', reason: 'agent_error', detail: end.reason, exit: null };
    } catch (error) {
      if (lost !== null) return { kind: 'failed', reason: 'infrastructure', detail: lost, exit: null };
      return { kind: 'failed', reason: 'agent_error', detail: messageOf(error), exit: null };
    }
  })();
  return Promise.race([driven, stopped]);
}

function runVariables(run: AgentRun): Record<string, string> {
  const { sandbox } = run;
  return {
    ...placeVariables(sandbox, run.workdir),
    PROCTOR_INSTRUCTION_FILE: sandbox.inside(INSTRUCTION_FILE),
    ...(Buffer.byteLength(run.input) <= MAX_VARIABLE_BYTES && !run.input.includes('\0') ? { PROCTOR_INSTRUCTION: run.input } : {}),
    PROCTOR_ITERATION: String(run.iteration),
    PROCTOR_ATTEMPTS_LEFT: String(run.attemptsLeft),
    ...(run.feedback === null ? {} : { PROCTOR_FEEDBACK_FILE: sandbox.inside(FEEDBACK_FILE) }),
    ...(run.timeLimitMs === null ? {} : { PROCTOR_TIME_LIMIT_SEC: String(run.timeLimitMs / 1000) }),
  };
}

/** Redacted first, so that nothing behind it ever sees a secret. */
function tee(keeper: OutputKeeper, run: AgentRun, stream: 'stdout' | 'stderr'): { push(chunk: Uint8Array): void; end(): void } {
  const redacted = run.redaction.stream();
  const decoder = new TextDecoder();
  const pass = (chunk: Uint8Array, isLast: boolean) => {
    if (chunk.length > 0) keeper.push(chunk);
    const text = decoder.decode(chunk, { stream: !isLast });
    if (text !== '') run.onOutput(stream, text);
  };
  return { push: (chunk) => pass(redacted.push(chunk), false), end: () => pass(redacted.end(), true) };
}
