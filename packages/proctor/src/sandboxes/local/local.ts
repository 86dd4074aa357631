import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { OwnedThing, ProviderOptions, SandboxAbilities, SandboxLease, SandboxProvider, SandboxSpec } from '../../sandbox.ts';
import { isAlive, type Owner, ownerOf, ownerText, ownProcess } from '../../system/processes.ts';
import { KEEPER } from './bubblewrap.ts';
import type { EnterPrograms } from './enter.ts';
import { factsOf, refuse } from './facts.ts';
import { keeperOf, labelledFolders, makeLabelledFolder, writeKeeper } from './folders.ts';
import { closedPlaces, present, resolverMount } from './host-etc.ts';
import { FRESH_MOUNTS, HOST_DIRECTORIES, makeRoot, removeFolder } from './layout.ts';
import { LocalLease } from './lease.ts';
import { coverSysfs, runTool, startMaker } from './make.ts';
import { enterPrograms, type Maker, makersOf, NO_MAKER, refusalSentence } from './makers.ts';
import { sendSignal } from './tree.ts';

/** Sandboxes of Linux namespaces, made without any engine. */
export function localSandboxes(options: ProviderOptions): SandboxProvider {
  return new LocalProvider(options);
}

const DEFAULT_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LANG: 'C.UTF-8' };

/** What this host lets us use, found out by making one sandbox. */
type Means = { maker: Maker; programs: EnterPrograms; closed: readonly string[] };

class LocalProvider implements SandboxProvider {
  readonly #options: ProviderOptions;
  readonly #directory: string;
  readonly #open = new Set<LocalLease>();
  #found: Promise<Means | string> | null = null;

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#directory = join(options.directory, 'local');
  }

  async unusable(): Promise<string | null> {
    const means = await this.#means();
    return typeof means === 'string' ? means : null;
  }

  async abilities(): Promise<SandboxAbilities> {
    const means = await this.#means();
    return {
      isolation: 'namespaces',
      images: false,
      networks: ['none', 'public'],
      enforces: new Set(),
      snapshots: true,
      concurrency: null,
      engine: typeof means === 'string' ? 'none' : means.maker.name,
      hostNetwork: { loopback: true, directories: HOST_DIRECTORIES, mounts: true, configured: {} },
      notes: ['tools are this host’s own, read-only; cpu, memory and storage are not limited; a pause is by signals'],
    };
  }

  async open(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxLease> {
    refuse(spec);
    const means = await this.#means();
    if (typeof means === 'string') throw new AppError('sandbox_unavailable', means);
    return this.#make(means, spec, signal);
  }

  owned(): Promise<OwnedThing[]> {
    return labelledFolders(this.#directory);
  }

  /** Ends a sandbox that still runs before its folder goes. */
  async remove(things: readonly OwnedThing[]): Promise<void> {
    for (const { kind, id } of things) {
      if (kind !== 'folder' || dirname(id) !== this.#directory) continue;
      const keeper = await keeperOf(id);
      if (keeper !== null) await endKeeper(keeper);
      await removeFolder(id, runTool);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open].map((lease) => lease[Symbol.asyncDispose]()));
  }

  async #make(means: Means, spec: SandboxSpec, signal?: AbortSignal): Promise<LocalLease> {
    const { maker, programs, closed } = means;
    const workdir = spec.workdir ?? '/app';
    const ownNetwork = spec.network.mode !== 'public';
    const folder = await makeLabelledFolder(this.#directory, spec.labels);
    try {
      const root = join(folder, 'root');
      const hostDirectories = makeRoot(root, workdir);
      const mounts = [...(ownNetwork ? [] : await resolverMount()), ...spec.mounts];
      const walls = { root, hostDirectories, mounts, hidden: await present(closed), ownNetwork };
      const { file, args } = maker.command(walls, [programs.sh, '-c', KEEPER]);
      const started = await startMaker(file, args, signal);
      const entrance = { pid: started.pid, ownNetwork, programs };
      const keeper = ownerOf(started.pid);
      if (keeper !== null) await writeKeeper(folder, keeper);
      if (ownNetwork) await coverSysfs(entrance);
      const lease = new LocalLease({
        folder,
        maker: started.maker,
        entrance,
        facts: factsOf(spec, workdir, maker.name),
        env: { ...DEFAULT_ENVIRONMENT, ...spec.env },
        foreign: [...hostDirectories, ...FRESH_MOUNTS, ...mounts.map((mount) => mount.path)],
        remove: async () => {
          this.#open.delete(lease);
          await removeFolder(folder, runTool);
        },
        makeCopyFolder: async () => {
          const copy = await makeLabelledFolder(this.#directory, spec.labels);
          return { folder: copy, remove: () => removeFolder(copy, runTool) };
        },
        openAgain: () => this.#make(means, spec),
      });
      this.#open.add(lease);
      return lease;
    } catch (error) {
      await this.remove([{ kind: 'folder', id: folder, labels: spec.labels, bytes: null, createdAt: null }]).catch(() => undefined);
      throw error;
    }
  }

  #means(): Promise<Means | string> {
    this.#found ??= this.#find();
    return this.#found;
  }

  async #find(): Promise<Means | string> {
    if (process.platform !== 'linux') return `the local sandbox needs Linux namespaces, this is ${process.platform}: use --sandbox docker`;
    const programs = enterPrograms(this.#options.environment);
    if (typeof programs === 'string') return programs;
    const closed = await closedPlaces();
    let refusal = NO_MAKER;
    for (const maker of makersOf(this.#options.environment, programs)) {
      const means = { maker, programs, closed };
      try {
        await using trial = await this.#make(means, trialSpec());
        const exit = await trial.sandbox.exec(['true'], { timeLimitMs: 20_000 });
        if (exit.kind === 'exited' && exit.code === 0) return means;
        refusal = await refusalSentence(`${maker.name}: a first command ended with ${JSON.stringify(exit)}`);
      } catch (error) {
        refusal = await refusalSentence(`${maker.name}: ${messageOf(error)}`);
      }
    }
    return refusal;
  }
}

/** Its end is the end of everything inside. */
async function endKeeper(keeper: Owner): Promise<void> {
  sendSignal(keeper.pid, 'SIGKILL');
  for (let waited = 0; waited < 5000 && isAlive(keeper); waited += 20) await setTimeout(20);
}

function trialSpec(): SandboxSpec {
  const expiresAt = new Date(Date.now() + 600_000).toISOString();
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
    labels: { store: 'trial', owner: ownerText(ownProcess()), session: 'trial', expiresAt },
  };
}
