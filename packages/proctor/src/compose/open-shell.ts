import type { Agent } from '../agent.ts';
import type { Composed } from '../compose.ts';
import type { EnvironmentSpec } from '../domain/environment.ts';
import { AppError } from '../domain/errors.ts';
import type { Task } from '../domain/task.ts';
import { admit } from '../engine/admission.ts';
import { stateKey } from '../engine/evidence.ts';
import type { ChosenProvider } from '../engine/parts.ts';
import { placeVariables } from '../engine/places.ts';
import { provision } from '../engine/provision.ts';
import { treeEntries } from '../engine/verdict-files.ts';
import type { PreparedImage } from '../sandbox.ts';
import { collect, packEntries } from '../system/tar.ts';
import { TreeContent } from '../system/tree-content.ts';

export interface OpenShell extends AsyncDisposable {
  /** A program of this host that joins the box with its own terminal; null = this sandbox has no way in. */
  argv: string[] | null;
  provider: string;
  workdir: string;
  network: string;
  image: string | null;
  notes: string[];
}

/** A task's box as an agent finds it, or as a Session's agent left it, with verifier or solution files where they are asked for. No Session, no event, no verdict. Errors: as admission's. */
export async function openShell(
  { client, engine }: Composed,
  options: { task: Task; spec: EnvironmentSpec; session: string | null; tests: boolean; solution: boolean; signal: AbortSignal },
): Promise<OpenShell> {
  const { task, spec, signal } = options;
  const content = new TreeContent();
  const chosen = await engine.provider(spec);
  const agent = await client.call('agents.create', { from: 'nop' });
  const ask = admit(task, agent, engine.agentKind('nop'), spec, chosen, engine.host, content);
  const environment = { id: 'env_shell', version: 1, name: 'shell', digest: '', spec, created_at: engine.clock.now().toISOString() };
  const expiresAt = new Date(engine.clock.now().getTime() + LIFE_MS).toISOString();
  const from = options.session === null ? null : await keptState(chosen, options.session);
  const { lease, workdir, notes } = await provision(engine, {
    from,
    frozen: { agent, environment, task, chosen, ask, captureRoots: [], mounts: [] },
    agent: NOBODY,
    agentDigest: agent.digest,
    content,
    labels: { store: engine.store.id, owner: engine.owner, session: engine.newId('shell'), expiresAt },
    signal,
    onPhase: () => {},
  });
  try {
    const trees = [
      ...(options.tests && task.verifier?.files != null ? [{ tree: task.verifier.files, target: task.verifier.target }] : []),
      ...(options.solution && task.solution !== null ? [{ tree: task.solution.files, target: task.solution.target }] : []),
    ];
    const entries = trees.flatMap(({ tree, target }) => treeEntries(tree, target, content.of(tree)));
    if (entries.length > 0) await lease.sandbox.upload(await collect(packEntries(entries)), '/');
    const variables = Object.entries(placeVariables(lease.sandbox, workdir)).map(([name, value]) => `${name}=${value}`);
    return {
      argv: lease.shellArgv?.(['env', ...variables, 'sh', '-c', BEST_SHELL]) ?? null,
      provider: chosen.name,
      workdir,
      network: lease.facts.network.mode,
      image: lease.facts.imageDigest ?? lease.facts.imageId,
      notes: [...ask.notes, ...notes],
      [Symbol.asyncDispose]: () => lease[Symbol.asyncDispose](),
    };
  } catch (error) {
    await lease[Symbol.asyncDispose]();
    throw error;
  }
}

async function keptState({ provider, name }: ChosenProvider, session: string): Promise<PreparedImage> {
  const kept = (await provider.kept?.(stateKey(session))) ?? null;
  if (kept !== null) return kept;
  throw new AppError(
    'not_found',
    `no final state of ${session} is kept in the ${name} sandbox: eval experiment --keep-state keeps it, in Docker. What is kept of it: proctor sessions files ${session}`,
    { details: { session } },
  );
}

const NOBODY: Agent = { environment: {}, redact: [], timeLimitMs: null, speaks: { kind: 'command', argv: ['true'] } };
const BEST_SHELL = 'if command -v bash > /dev/null 2>&1; then exec bash; else exec sh; fi';
const LIFE_MS = 48 * 3_600_000;
