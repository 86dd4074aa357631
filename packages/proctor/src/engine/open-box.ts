import type { AgentVersion } from '../domain/agent-version.ts';
import type { EnvironmentVersion } from '../domain/environment.ts';
import { AppError } from '../domain/errors.ts';
import type { Task } from '../domain/task.ts';
import { collect, packEntries } from '../system/tar.ts';
import { TreeContent } from '../system/tree-content.ts';
import { EnvironmentFailure } from './frozen.ts';
import type { EngineParts } from './parts.ts';
import { provision } from './provision.ts';
import type { Sessions } from './sessions.ts';
import { treeEntries } from './verdict-files.ts';

/** The key under which a Session's last state is kept. */
export function stateKey(sessionId: string): string {
  return `state ${sessionId}`;
}

export type BoxRequest = {
  task: Task | null;
  environment: EnvironmentVersion;
  agent: AgentVersion;
  /** Open the kept state of this Session instead of a new sandbox. */
  session: string | null;
  /** Put the verifier's files in place. */
  tests: boolean;
  signal: AbortSignal;
};

/** `argv` runs on the host, on the person's terminal. */
export type Box = AsyncDisposable & { workdir: string; argv(command: readonly string[]): string[] };

/** A sandbox for a person to look around in. It makes no Session and leaves no record. */
export async function openBox(parts: EngineParts, sessions: Sessions, request: BoxRequest): Promise<Box> {
  const frozen = await sessions.admit(request.agent, request.environment, request.task);
  const { provider, name } = frozen.chosen;
  const kept = request.session === null ? null : ((await provider.kept?.(stateKey(request.session))) ?? null);
  if (request.session !== null && kept === null) {
    throw new AppError(
      'not_found',
      `no state of ${request.session} is kept: states are kept by eval experiment --keep-state, in the docker sandbox. What was kept of it: proctor sessions files ${request.session}`,
    );
  }
  const content = new TreeContent();
  const labels = {
    store: parts.store.id,
    owner: parts.owner,
    session: request.session ?? 'shell',
    expiresAt: new Date(parts.clock.now().getTime() + 24 * 3_600_000).toISOString(),
  };
  const opened = await provision(parts, {
    frozen,
    agent: { environment: {}, redact: [], timeLimitMs: null, speaks: { kind: 'command', argv: [] } },
    agentDigest: '',
    content,
    labels,
    signal: request.signal,
    onPhase: () => {},
    from: kept,
  }).catch((error) => {
    if (error instanceof EnvironmentFailure)
      throw new AppError('sandbox_unavailable', `the box could not be made (${error.phase}): ${error.message}`, { cause: error });
    throw error;
  });
  const { lease, workdir } = opened;
  const shellArgv = lease.shellArgv?.bind(lease);
  if (shellArgv === undefined) {
    await lease[Symbol.asyncDispose]();
    throw new AppError('capability_not_enabled', `the ${name} sandbox cannot be entered from a terminal: use --sandbox docker`, {
      details: { capability: 'shell' },
    });
  }
  const files = request.task?.verifier?.files ?? null;
  if (request.tests && files !== null) {
    const target = request.task?.verifier?.target ?? '/tests';
    await lease.sandbox.upload(
      await collect(
        packEntries([{ path: target.slice(1), type: 'directory', mode: 0o755 }, ...treeEntries(files, target, content.of(files))]),
      ),
      '/',
    );
  }
  return { workdir, argv: (command) => shellArgv(command), [Symbol.asyncDispose]: () => lease[Symbol.asyncDispose]() };
}
