import { mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../domain/errors.ts';
import type {
  OwnedThing,
  ProviderOptions,
  SandboxAbilities,
  SandboxFacts,
  SandboxLease,
  SandboxProvider,
  SandboxSpec,
} from '../../sandbox.ts';
import { labelledFolders, makeLabelledFolder } from './folders.ts';
import { makeWritable, removeFolder } from './layout.ts';
import { runTool } from './make.ts';
import { MarkedView } from './marked-view.ts';
import { PhaseProcesses } from './phase-processes.ts';
import { isOwnUser, PlainLease } from './plain-lease.ts';
import { findProgram } from './programs.ts';

/** Plain processes of this host, for who asks for no isolation by name. */
export function plainSandboxes(options: ProviderOptions): SandboxProvider {
  return new PlainProvider(options);
}

class PlainProvider implements SandboxProvider {
  readonly #options: ProviderOptions;
  readonly #directory: string;
  readonly #open = new Map<string, PlainLease>();

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#directory = join(options.directory, 'plain');
  }

  async unusable(): Promise<string | null> {
    if (process.platform !== 'linux')
      return `plain processes are followed through /proc, which ${process.platform} has not: use --sandbox docker`;
    const missing = ['sh', 'tar', 'mkfifo'].filter((name) => findProgram(name, this.#options.environment) === null);
    return missing.length === 0 ? null : `plain processes need ${missing.join(', ')} on PATH`;
  }

  async abilities(): Promise<SandboxAbilities> {
    return {
      isolation: 'none',
      images: false,
      networks: ['public'],
      enforces: new Set(),
      snapshots: false,
      concurrency: 1,
      engine: 'processes',
      hostNetwork: { loopback: true, directories: ['/'], mounts: false, configured: {} },
      notes: ['isolation none: programs run as you, on this host, and may read and change whatever you may'],
    };
  }

  async open(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxLease> {
    refuse(spec);
    const reason = await this.unusable();
    if (reason !== null) throw new AppError('sandbox_unavailable', reason);
    if (signal?.aborted === true) throw new AppError('interrupted', 'the sandbox was not made: interrupted');
    const { environment } = this.#options;
    const workdir = spec.workdir ?? '/app';
    const folder = await makeLabelledFolder(this.#directory, spec.labels);
    try {
      const root = join(await realpath(folder), 'root');
      await mkdir(root);
      makeWritable(root, workdir);
      const path = environment.PATH ?? '/usr/local/bin:/usr/bin:/bin';
      const lease = new PlainLease({
        folder,
        root,
        marker: basename(folder),
        facts: factsOf(spec, workdir),
        env: { PATH: path, HOME: join(root, 'root'), TMPDIR: join(root, 'tmp'), LANG: 'C.UTF-8', ...spec.env },
        tar: findProgram('tar', environment) ?? 'tar',
        sh: findProgram('sh', environment) ?? 'sh',
        path,
        remove: async () => {
          this.#open.delete(folder);
          await removeFolder(folder, runTool);
        },
      });
      this.#open.set(folder, lease);
      return lease;
    } catch (error) {
      await removeFolder(folder, runTool).catch(() => undefined);
      throw error;
    }
  }

  owned(): Promise<OwnedThing[]> {
    return labelledFolders(this.#directory);
  }

  /** Ends what still runs of a folder, also where its owner died long ago, and removes it. */
  async remove(things: readonly OwnedThing[]): Promise<void> {
    for (const { kind, id } of things) {
      if (kind !== 'folder' || dirname(id) !== this.#directory) continue;
      new PhaseProcesses(new MarkedView(basename(id))).killAll();
      await removeFolder(id, runTool);
      this.#open.get(id)?.lose('its folder was removed');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map((lease) => lease[Symbol.asyncDispose]()));
  }
}

function refuse(spec: SandboxSpec): void {
  const refusal = (capability: string, what: string) =>
    new AppError('cannot_enforce', `${what}: plain processes cannot have that; use --sandbox docker or local`, { details: { capability } });
  if (!isOwnUser(spec.user)) throw refusal('users', `user ${spec.user} was asked for`);
  if ((spec.gpus ?? 0) > 0) throw refusal('gpus', 'gpus were asked for');
  if (spec.network.mode !== 'public') throw refusal('network', `network ${spec.network.mode} was asked for`);
  if (spec.mounts.length > 0) throw refusal('mounts', 'read-only mounts were asked for');
}

function factsOf(spec: SandboxSpec, workdir: string): SandboxFacts {
  const limits = { cpus: spec.cpus, memory_mb: spec.memoryMb, storage_mb: spec.storageMb, pids: spec.pids };
  return {
    provider: 'none',
    isolation: 'none',
    imageId: null,
    imageDigest: null,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
    workdir,
    network: { mode: 'public', enforced: true },
    notEnforced: Object.entries(limits).flatMap(([name, value]) => (value === null ? [] : [name])),
    engine: 'processes',
  };
}
