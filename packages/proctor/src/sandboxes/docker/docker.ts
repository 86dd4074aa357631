import { hostname } from 'node:os';
import { z } from 'zod';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { ImageIntent } from '../../domain/task.ts';
import type {
  OwnedThing,
  PreparedImage,
  PrepareOptions,
  ProviderOptions,
  SandboxAbilities,
  SandboxLease,
  SandboxProvider,
  SandboxSpec,
} from '../../sandbox.ts';
import { configuredProxies } from './configured-proxies.ts';
import { findEndpoint } from './endpoint.ts';
import { EngineClient } from './engine.ts';
import { EngineEvents } from './events.ts';
import { Images } from './images.ts';
import { type LeaseParts, openLease } from './lease.ts';
import type { KnownTrees } from './originals.ts';
import { listOwned, removeOwned } from './owned.ts';
import { findKept } from './snapshot.ts';
import { findSight, type Sight } from './view.ts';

/** Sandboxes that are containers of the Docker (or Podman) engine that the docker program would use. */
export function dockerSandboxes(options: ProviderOptions & { processes?: Sight }): SandboxProvider {
  return new DockerSandboxes(options);
}

class DockerSandboxes implements SandboxProvider {
  #options: ProviderOptions & { processes?: Sight };
  #connection: { engine: EngineClient; events: EngineEvents; images: Images } | null = null;
  #engineInfo: Promise<EngineInfo> | null = null;
  #sight: Promise<Sight> | null = null;
  readonly #knownTrees: KnownTrees = new Map();

  constructor(options: ProviderOptions & { processes?: Sight }) {
    this.#options = options;
  }

  async unusable(): Promise<string | null> {
    try {
      await this.#connect().engine.ping();
      const info = await this.#info();
      return info.OSType === 'linux'
        ? null
        : `docker at ${this.#connect().engine.endpoint.shown} runs ${info.OSType} containers: switch it to Linux containers`;
    } catch (error) {
      return `${messageOf(error)}${remedy(error, this.#connection?.engine.endpoint.shown ?? null)}`;
    }
  }

  async abilities(): Promise<SandboxAbilities> {
    const { endpoint } = this.#connect().engine;
    const info = await this.#info();
    const enforces: SandboxAbilities['enforces'] = new Set([
      'users' as const,
      ...(info.CpuCfsQuota ? (['cpus'] as const) : []),
      ...(info.MemoryLimit ? (['memory'] as const) : []),
      ...(info.PidsLimit ? (['pids'] as const) : []),
      ...(Object.keys(info.Runtimes ?? {}).some((name) => name.startsWith('nvidia')) ? (['gpus'] as const) : []),
    ]);
    return {
      isolation: 'container',
      images: true,
      networks: ['none', 'public'],
      enforces,
      snapshots: true,
      concurrency: null,
      engine: engineName(info),
      hostNetwork: {
        loopback: false,
        directories: [],
        // The name tells an engine of this host from one whose socket was handed in: that one has other files.
        mounts: endpoint.to.kind === 'unix' && info.Name === hostname(),
        configured: configuredProxies(this.#options.environment, endpoint.host),
      },
      notes: [`${endpoint.shown}, ${info.NCPU} cpus, ${Math.floor(info.MemTotal / 2 ** 20)} MiB`],
    };
  }

  async prepare(image: ImageIntent, options: PrepareOptions): Promise<PreparedImage> {
    return await this.#connect().images.prepare(image, options);
  }

  async kept(key: string): Promise<PreparedImage | null> {
    return await findKept(this.#connect().engine, key);
  }

  async open(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxLease> {
    const { engine, events, images } = this.#connect();
    const info = await this.#info();
    const parts: LeaseParts = {
      engine,
      events,
      engineName: engineName(info),
      sight: (containerId) => this.#sightOf(engine, containerId),
      directory: this.#options.directory,
      knownTrees: this.#knownTrees,
    };
    return await openLease(parts, spec.prepared ?? (await this.#unprepared(images, spec, signal)), spec, signal);
  }

  async owned(): Promise<OwnedThing[]> {
    return await listOwned(this.#connect().engine);
  }

  async remove(things: readonly OwnedThing[]): Promise<void> {
    await removeOwned(this.#connect().engine, things);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.events.close();
    this.#connection?.engine.close();
  }

  async #unprepared(images: Images, spec: SandboxSpec, signal: AbortSignal | undefined): Promise<PreparedImage> {
    if (spec.image === null) throw new AppError('image_required', 'the docker sandbox needs an image, found none: name one with --image');
    return await images.prepare(spec.image, { labels: spec.labels, timeLimitMs: PREPARE_LIMIT_MS, noBuild: false, signal });
  }

  #connect(): { engine: EngineClient; events: EngineEvents; images: Images } {
    if (this.#connection === null) {
      const engine = new EngineClient(findEndpoint(this.#options.environment), this.#options.environment);
      this.#connection = { engine, events: new EngineEvents(engine), images: new Images(engine, this.#options.environment) };
    }
    return this.#connection;
  }

  #sightOf(engine: EngineClient, containerId: string): Promise<Sight> {
    if (this.#options.processes !== undefined) return Promise.resolve(this.#options.processes);
    this.#sight ??= findSight(engine, containerId).catch((error: unknown) => {
      this.#sight = null;
      throw error;
    });
    return this.#sight;
  }

  #info(): Promise<EngineInfo> {
    this.#engineInfo ??= this.#connect()
      .engine.read(InfoSchema, 'GET', '/info')
      .catch((error: unknown) => {
        this.#engineInfo = null;
        throw error;
      });
    return this.#engineInfo;
  }
}

function engineName(info: EngineInfo): string {
  return `docker ${info.ServerVersion}`;
}

function remedy(error: unknown, shown: string | null): string {
  const reason = error instanceof AppError ? error.details.reason : null;
  if (reason === 'EACCES')
    return ': add yourself to its group with `sudo usermod -aG docker $USER` and log in again, or pass --sandbox local';
  if (reason === 'ENOENT' || reason === 'ECONNREFUSED') {
    return shown?.startsWith('unix:')
      ? ': start it with `sudo systemctl start docker` (or Docker Desktop), or pass --sandbox local'
      : ': start it, or correct DOCKER_HOST';
  }
  return '';
}

const PREPARE_LIMIT_MS = 600_000;

const InfoSchema = z.looseObject({
  OSType: z.string(),
  ServerVersion: z.string(),
  Name: z.string().optional(),
  NCPU: z.number(),
  MemTotal: z.number(),
  MemoryLimit: z.boolean().optional(),
  CpuCfsQuota: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
});
type EngineInfo = z.infer<typeof InfoSchema>;
