import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { AppError, messageOf } from '../../domain/errors.ts';
import type {
  OwnedThing,
  ProviderOptions,
  SandboxAbilities,
  SandboxFacts,
  SandboxLease,
  SandboxProvider,
  SandboxSpec,
} from '../../sandbox.ts';
import { isAlive, type Owner, ownerOf, ownerText, ownProcess } from '../../system/processes.ts';
import { bubblewrapArgs, KEEPER } from './bubblewrap.ts';
import type { EnterPrograms } from './enter.ts';
import { keeperOf, labelledFolders, makeLabelledFolder, writeKeeper } from './folders.ts';
import { makeRoot, removeFolder } from './layout.ts';
import { isRoot, LocalLease } from './lease.ts';
import { coverSysfs, runTool, startMaker } from './make.ts';
import { findProgram } from './programs.ts';
import { sendSignal } from './tree.ts';

/** Sandboxes of Linux namespaces, made without any engine. */
export function localSandboxes(options: ProviderOptions): SandboxProvider {
  return new LocalProvider(options);
}

const DEFAULT_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LANG: 'C.UTF-8' };

class LocalProvider implements SandboxProvider {
  readonly #options: ProviderOptions;
  readonly #folder: string;
  #tried: Promise<string | null> | null = null;
  readonly #open = new Set<LocalLease>();

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#folder = join(options.directory, 'local');
  }

  unusable(): Promise<string | null> {
    this.#tried ??= this.#try();
    return this.#tried;
  }

  async abilities(): Promise<SandboxAbilities> {
    return {
      isolation: 'namespaces',
      images: false,
      networks: ['none', 'public'],
      enforces: new Set(),
      snapshots: false,
      concurrency: null,
      engine: 'bubblewrap',
      notes: ['tools are the host’s own, read-only; cpu, memory and storage are not limited'],
    };
  }

  async open(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxLease> {
    refuse(spec);
    const programs = this.#programs();
    const bwrap = findProgram('bwrap', this.#options.environment);
    if (typeof programs === 'string' || bwrap === null)
      throw new AppError('sandbox_unavailable', typeof programs === 'string' ? programs : NO_MAKER);
    const workdir = spec.workdir ?? '/app';
    const ownNetwork = spec.network.mode !== 'public';
    const folder = await makeLabelledFolder(this.#folder, spec.labels);
    const remove = () => removeFolder(folder, runTool);
    try {
      const root = join(folder, 'root');
      const hostDirectories = await makeRoot(root, workdir);
      const walls = { root, hostDirectories, mounts: spec.mounts, hidden: [], ownNetwork };
      const { maker, pid } = await startMaker(bwrap, bubblewrapArgs(walls, [programs.sh, '-c', KEEPER]), signal);
      const entrance = { pid, ownNetwork, programs };
      const keeper = ownerOf(pid);
      if (keeper !== null) await writeKeeper(folder, keeper);
      if (ownNetwork) await coverSysfs(entrance);
      const lease = new LocalLease({
        folder,
        maker,
        entrance,
        facts: factsOf(spec, workdir),
        env: { ...DEFAULT_ENVIRONMENT, ...spec.env },
        remove: async () => {
          this.#open.delete(lease);
          await remove();
        },
      });
      this.#open.add(lease);
      return lease;
    } catch (error) {
      await remove().catch(() => undefined);
      throw error;
    }
  }

  owned(): Promise<OwnedThing[]> {
    return labelledFolders(this.#folder);
  }

  async remove(things: readonly OwnedThing[]): Promise<void> {
    for (const { kind, id } of things) {
      if (kind !== 'folder' || dirname(id) !== this.#folder) continue;
      const keeper = await keeperOf(id);
      if (keeper !== null) await endKeeper(keeper);
      await removeFolder(id, runTool);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open].map((lease) => lease[Symbol.asyncDispose]()));
  }

  #programs(): EnterPrograms | string {
    const { environment } = this.#options;
    const [nsenter, setpriv, setsid, sh, env] = ['nsenter', 'setpriv', 'setsid', 'sh', 'env'].map((name) => findProgram(name, environment));
    if (nsenter && setpriv && setsid && sh && env) return { nsenter, setpriv, setsid, sh, env };
    return 'the programs nsenter, setpriv and setsid of util-linux were not all found on PATH: apt-get install util-linux';
  }

  async #try(): Promise<string | null> {
    if (process.platform !== 'linux')
      return `the local sandbox needs Linux namespaces, this is ${process.platform}: start Docker and use --sandbox docker`;
    try {
      await using lease = await this.open(trial());
      const exit = await lease.sandbox.exec(['true'], { timeLimitMs: 20_000 });
      return exit.kind === 'exited' && exit.code === 0 ? null : `a first command in a local sandbox ended with ${JSON.stringify(exit)}`;
    } catch (error) {
      return messageOf(error);
    }
  }
}

/** Its end is the end of everything inside. */
async function endKeeper(keeper: Owner): Promise<void> {
  sendSignal(keeper.pid, 'SIGKILL');
  for (let waited = 0; waited < 5000 && isAlive(keeper); waited += 20) await setTimeout(20);
}

const NO_MAKER = 'bubblewrap was not found on PATH: apt-get install bubblewrap';

function refuse(spec: SandboxSpec): void {
  if (!isRoot(spec.user)) {
    throw new AppError('cannot_enforce', `user ${spec.user} was asked for: the local sandbox has one user, root; use --sandbox docker`, {
      details: { capability: 'users' },
    });
  }
  if ((spec.gpus ?? 0) > 0)
    throw new AppError('cannot_enforce', 'gpus were asked for: the local sandbox gives none; use --sandbox docker', {
      details: { capability: 'gpus' },
    });
  if (spec.network.mode === 'allowlist') {
    throw new AppError('cannot_enforce', 'a network allowlist was asked for: the local sandbox has only none and public', {
      details: { capability: 'allowlist' },
    });
  }
}

function factsOf(spec: SandboxSpec, workdir: string): SandboxFacts {
  const limits = { cpus: spec.cpus, memory_mb: spec.memoryMb, storage_mb: spec.storageMb, pids: spec.pids };
  return {
    provider: 'local',
    isolation: 'namespaces',
    imageId: null,
    imageDigest: null,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
    workdir,
    network: { mode: spec.network.mode, enforced: true },
    notEnforced: Object.entries(limits).flatMap(([name, value]) => (value === null ? [] : [name])),
    engine: 'bubblewrap',
  };
}

function trial(): SandboxSpec {
  const labels = {
    store: 'none',
    owner: ownerText(ownProcess()),
    session: 'trial',
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
  };
  return {
    image: null,
    prepared: null,
    workdir: null,
    env: {},
    user: null,
    cpus: null,
    memoryMb: null,
    storageMb: null,
    gpus: null,
    pids: null,
    network: { mode: 'none', hosts: [] },
    mounts: [],
    labels,
  };
}
