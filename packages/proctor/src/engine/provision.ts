import type { Agent } from '../agent.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import type { PreparedImage, SandboxLabels, SandboxLease, SandboxSpec } from '../sandbox.ts';
import { collect, packEntries, type TarEntry } from '../system/tar.ts';
import type { TreeContent } from '../system/tree-content.ts';
import { requireDiskSpace } from './disk.ts';
import { EnvironmentFailure, type Frozen } from './frozen.ts';
import { waitUntilHealthy } from './healthcheck.ts';
import { grantHostNetwork, type HostNetworkGrant } from './host-network.ts';
import { materializeMounts } from './mounts.ts';
import { OutputKeeper } from './output-keeper.ts';
import type { EngineParts } from './parts.ts';
import { placedArgv, placeVariables } from './places.ts';
import { treeEntries } from './verdict-files.ts';

export const INSTRUCTION_FILE = '/logs/agent/instruction.md';
export const FEEDBACK_FILE = '/logs/agent/feedback.md';

export type Provisioned = {
  lease: SandboxLease;
  prepared: PreparedImage | null;
  workdir: string;
  provisionMs: number;
  agentSetupMs: number | null;
  imageBuilt: boolean;
  buildMs: number | null;
  buildLog: string | null;
  /** What of the host's proxies and certificates did not enter, and why. */
  notes: string[];
};

export type ProvisionOptions = {
  frozen: Frozen;
  agent: Agent;
  agentDigest: string;
  content: TreeContent;
  labels: SandboxLabels;
  signal: AbortSignal;
  onPhase(phase: 'image' | 'provision' | 'agent_setup'): void;
  /** A kept filesystem instead of the image; nothing is uploaded over it. */
  from?: PreparedImage | null;
};

/** Image, sandbox, files, health and agent setup, each under its own clock. What fails here is never a score: EnvironmentFailure says whose it is. */
export async function provision(parts: EngineParts, options: ProvisionOptions): Promise<Provisioned> {
  const { frozen, agent, signal } = options;
  await requireDiskSpace(parts.store.home, parts.diskWatermarkBytes);
  const mounts = await atPhase('provision', () => materializeMounts(parts.store, frozen.mounts, parts.mountsDirectory));
  const { provider } = frozen.chosen;
  const limits = frozen.task?.limits;
  const prepared = options.from ?? (await prepareImage(options));
  const setupKey = agent.setup === undefined || prepared === null ? null : `${prepared.id}+${options.agentDigest}`;
  const kept = setupKey === null ? null : ((await provider.kept?.(setupKey)) ?? null);
  options.onPhase('provision');
  const start = parts.clock.elapsed();
  const host = { environment: parts.hostEnvironment, certificates: parts.hostCertificates };
  const granted = await atPhase('provision', () => grantHostNetwork(host, frozen.chosen.abilities, frozen.ask));
  const lease = await openLease(options, kept ?? prepared, [...mounts, ...granted.mounts], granted.env);
  try {
    const workdir = lease.facts.workdir;
    const files = options.from == null ? initialFiles(options, workdir, kept !== null) : [];
    await atPhase('upload', () => uploadAll(lease, [...granted.entries, ...files]));
    const healthcheck = frozen.task?.environment.healthcheck ?? null;
    if (healthcheck !== null) await waitUntilHealthy(lease.sandbox, healthcheck, { workdir, signal, clock: parts.clock });
    const provisionMs = parts.clock.elapsed() - start;
    let agentSetupMs: number | null = null;
    if (agent.setup !== undefined && kept === null) {
      options.onPhase('agent_setup');
      agentSetupMs = await runSetup(parts, options, lease, workdir, limits?.agent_setup_timeout_ms ?? 360_000);
      if (setupKey !== null) await lease.keepAs?.(setupKey);
    }
    return {
      lease,
      prepared,
      workdir,
      provisionMs,
      agentSetupMs,
      imageBuilt: prepared?.built ?? false,
      buildMs: prepared?.built ? prepared.durationMs : null,
      buildLog: prepared?.built ? prepared.log : null,
      notes: granted.notes,
    };
  } catch (error) {
    await lease[Symbol.asyncDispose]();
    throw error;
  }
}

async function prepareImage(options: ProvisionOptions): Promise<PreparedImage | null> {
  const { frozen, signal } = options;
  const image = frozen.ask.image;
  const prepare = frozen.chosen.provider.prepare?.bind(frozen.chosen.provider);
  if (image === null || prepare === undefined) return null;
  options.onPhase('image');
  try {
    return await prepare(image, {
      labels: options.labels,
      timeLimitMs: frozen.task?.limits.build_timeout_ms ?? 600_000,
      noBuild: !frozen.environment.spec.build,
      signal,
    });
  } catch (error) {
    if (signal.aborted)
      throw new EnvironmentFailure('build', 'cancelled', 'interrupted', 'interrupted while the image was prepared', { cause: error });
    if (!(error instanceof AppError))
      throw new EnvironmentFailure('pull', 'infrastructure', 'internal', messageOf(error), { cause: error });
    const log = typeof error.details.log === 'string' ? error.details.log : null;
    const ofTask = error.details.attribution === 'task';
    throw new EnvironmentFailure(
      error.code === 'image_build_failed' ? 'build' : error.code === 'image_unavailable' ? 'pull' : 'provision',
      ofTask ? 'task' : 'infrastructure',
      error.code,
      error.message,
      { log, cause: error },
    );
  }
}

async function openLease(
  options: ProvisionOptions,
  prepared: PreparedImage | null,
  mounts: SandboxSpec['mounts'],
  env: HostNetworkGrant['env'],
): Promise<SandboxLease> {
  const { frozen, signal } = options;
  const { ask } = frozen;
  try {
    return await frozen.chosen.provider.open(
      {
        image: ask.image,
        prepared,
        workdir: ask.workdir,
        env,
        user: ask.user,
        cpus: ask.cpus,
        memoryMb: ask.memoryMb,
        storageMb: ask.storageMb,
        gpus: ask.gpus,
        pids: ask.pids,
        network: ask.network,
        mounts,
        labels: options.labels,
      },
      signal,
    );
  } catch (error) {
    if (signal.aborted)
      throw new EnvironmentFailure('provision', 'cancelled', 'interrupted', 'interrupted while the sandbox was opened', { cause: error });
    const ofTask = error instanceof AppError && error.details.attribution === 'task';
    throw new EnvironmentFailure(
      'provision',
      ofTask ? 'task' : 'infrastructure',
      error instanceof AppError ? error.code : 'internal',
      messageOf(error),
      { cause: error },
    );
  }
}

/** Everything a Session starts with: log directories that anyone may write, the instruction, the agent's files, the task's loose files. */
function initialFiles(options: ProvisionOptions, workdir: string, agentKept: boolean): TarEntry[] {
  const { frozen, agent, content } = options;
  const entries: TarEntry[] = [
    { path: 'logs', type: 'directory', mode: 0o755 },
    ...['agent', 'verifier', 'artifacts'].map((name): TarEntry => ({ path: `logs/${name}`, type: 'directory', mode: 0o777 })),
  ];
  if (frozen.task !== null)
    entries.push({ path: INSTRUCTION_FILE.slice(1), type: 'file', mode: 0o644, content: Buffer.from(frozen.task.instruction) });
  const loose = frozen.task?.environment.upload ?? null;
  if (loose !== null) entries.push(...treeEntries(loose, workdir, content.of(loose)));
  for (const { tree, target } of agentKept ? [] : (agent.files ?? [])) {
    entries.push({ path: target.slice(1), type: 'directory', mode: 0o755 }, ...treeEntries(tree, target, content.of(tree)));
  }
  return entries;
}

async function uploadAll(lease: SandboxLease, entries: readonly TarEntry[]): Promise<void> {
  if (entries.length > 0) await lease.sandbox.upload(await collect(packEntries(entries)), '/');
}

async function runSetup(
  parts: EngineParts,
  options: ProvisionOptions,
  lease: SandboxLease,
  workdir: string,
  timeLimitMs: number,
): Promise<number> {
  const { agent, signal } = options;
  const keeper = new OutputKeeper(64 * 1024);
  const start = parts.clock.elapsed();
  const exit = await lease.sandbox.exec(placedArgv(agent.setup ?? [], lease.sandbox, workdir), {
    user: 'root',
    cwd: workdir,
    env: { ...agent.environment, ...placeVariables(lease.sandbox, workdir) },
    timeLimitMs,
    stdout: keeper.push,
    stderr: keeper.push,
    signal,
  });
  const log = Buffer.from(keeper.bytes()).toString('utf8');
  if (exit.kind === 'exited' && exit.code === 0) return parts.clock.elapsed() - start;
  if (exit.kind === 'aborted')
    throw new EnvironmentFailure('agent_setup', 'cancelled', 'interrupted', 'interrupted during agent setup', { log });
  const what =
    exit.kind === 'exited'
      ? `exited ${exit.code}`
      : exit.kind === 'timed_out'
        ? `passed its limit of ${timeLimitMs / 1000} s`
        : exit.kind === 'lost'
          ? `was lost: ${exit.cause}`
          : `ended: ${exit.kind}`;
  throw new EnvironmentFailure(
    'agent_setup',
    'infrastructure',
    'agent_setup_failed',
    `the agent's setup ${what}: see its log, and try it with proctor shell`,
    { log },
  );
}

async function atPhase<T>(phase: EnvironmentFailure['phase'], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new EnvironmentFailure(phase, 'infrastructure', error instanceof AppError ? error.code : 'internal', messageOf(error), {
      cause: error,
    });
  }
}
