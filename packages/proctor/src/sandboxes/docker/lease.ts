import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { Change, LeftProcess, PreparedImage, Sandbox, SandboxFacts, SandboxLease, SandboxSpec, Snapshot } from '../../sandbox.ts';
import { containerChanges } from './changes.ts';
import { ContainerSchema, type RunningContainer, removeContainer, startContainer } from './container.ts';
import { type EngineClient, EngineRefusal } from './engine.ts';
import type { EngineEvents } from './events.ts';
import { type ExecName, execInContainer } from './exec.ts';
import { ContainerFiles } from './files.ts';
import { type KnownTrees, OriginalFiles } from './originals.ts';
import { ContainerProcesses } from './processes.ts';
import { keepFilesystem, snapshotOf, verifierFrom } from './snapshot.ts';
import { describe, type Sight, viewInto } from './view.ts';

export type LeaseParts = {
  engine: EngineClient;
  events: EngineEvents;
  /** For the facts: `docker 26.1.5`. */
  engineName: string;
  /** How processes of this engine's containers can be looked at, found out with the first of them. */
  sight(containerId: string): Promise<Sight>;
  directory: string;
  knownTrees: KnownTrees;
};

export async function openLease(parts: LeaseParts, image: PreparedImage, spec: SandboxSpec, signal?: AbortSignal): Promise<DockerLease> {
  if (spec.network.mode === 'allowlist') {
    throw new AppError('cannot_enforce', 'network "allowlist" was asked for and the docker sandbox cannot enforce it: use none or public', {
      details: { limit: 'network' },
    });
  }
  await parts.events.listen(spec.labels.owner);
  const container = await startContainer(parts.engine, image, spec, signal);
  try {
    return new DockerLease({ ...parts, processes: await parts.sight(container.id) }, image, spec, container);
  } catch (error) {
    await removeContainer(parts.engine, container.id);
    throw error;
  }
}

type OpenParts = LeaseParts & { processes: Sight };

/** A running container and its life. */
export class DockerLease implements SandboxLease {
  readonly sandbox: Sandbox;
  readonly facts: SandboxFacts;
  readonly lost: Promise<string>;
  readonly containerId: string;
  readonly #parts: OpenParts;
  readonly #image: PreparedImage;
  readonly #spec: SandboxSpec;
  readonly #container: RunningContainer;
  readonly #files: ContainerFiles;
  readonly #originals: OriginalFiles;
  readonly #watched: ReturnType<EngineEvents['watch']>;
  #processes: Promise<ContainerProcesses> | null = null;
  #description: Promise<unknown> | null = null;
  #disposed: Promise<void> | null = null;

  constructor(parts: OpenParts, image: PreparedImage, spec: SandboxSpec, container: RunningContainer) {
    this.#parts = parts;
    this.#image = image;
    this.#spec = spec;
    this.#container = container;
    this.containerId = container.id;
    this.#files = new ContainerFiles(parts.engine, container.id);
    this.#originals = new OriginalFiles(parts.engine, image, spec.labels, parts.knownTrees);
    this.#watched = parts.events.watch(container.id);
    this.facts = {
      provider: 'docker',
      isolation: 'container',
      imageId: image.id,
      imageDigest: image.digest,
      platform: image.platform,
      workdir: container.workdir,
      network: { mode: spec.network.mode, enforced: true },
      notEnforced: spec.storageMb === null ? [] : ['storage_mb'],
      engine: parts.engineName,
    };
    this.sandbox = this.#makeSandbox();
    // Looked up while the first files are on their way; who needs it asks again where this fails.
    if (parts.processes === 'host') this.#inside().catch(() => undefined);
    this.lost = new Promise((resolve) => {
      container.attached.once('close', () => {
        if (this.#disposed === null) void this.#whyLost().then(resolve);
      });
    });
  }

  async mark(): Promise<void> {
    await (await this.#inside()).mark();
  }

  async left(): Promise<LeftProcess[]> {
    return await (await this.#inside()).left();
  }

  async signal(left: readonly LeftProcess[], action: 'kill' | 'stop' | 'continue'): Promise<void> {
    await (await this.#inside()).signal(left, action);
  }

  outOfMemory(): boolean {
    return this.#watched.death().outOfMemory;
  }

  async changes(): Promise<Change[] | null> {
    return await containerChanges(this.#parts.engine, this.containerId, await this.#described());
  }

  async original(path: string, maxBytes: number): Promise<Uint8Array | null> {
    return await this.#originals.read(path, maxBytes);
  }

  async originalTree(path: string): Promise<AsyncIterable<Uint8Array> | null> {
    return await this.#originals.tree(path);
  }

  async keepAs(key: string): Promise<PreparedImage> {
    return await keepFilesystem(this.#parts.engine, this.containerId, this.#image, this.#spec.labels, key);
  }

  async snapshot(): Promise<Snapshot> {
    return await snapshotOf(this.#parts, this.containerId, this.#image, this.#spec);
  }

  async openVerifier(from: Snapshot): Promise<SandboxLease> {
    // The declared network: a verifier that installs what it needs must be able to do so here too.
    const spec: SandboxSpec = { ...this.#spec, workdir: this.facts.workdir };
    return await verifierFrom(from, (image) => openLease(this.#parts, image, spec));
  }

  async pause(): Promise<AsyncDisposable> {
    const { engine } = this.#parts;
    await engine.call('POST', `/containers/${this.containerId}/pause`);
    let running = false;
    return {
      [Symbol.asyncDispose]: async () => {
        if (running) return;
        running = true;
        // Refused only where there is nothing to continue any more.
        await engine.call('POST', `/containers/${this.containerId}/unpause`, { accept: [404, 409, 500] }).catch(() => undefined);
      },
    };
  }

  shellArgv(command: readonly string[]): string[] {
    const { to } = this.#parts.engine.endpoint;
    const host = to.kind === 'unix' ? ['--host', `unix://${to.path}`] : [];
    const user = this.#user();
    const environment = Object.entries(this.#spec.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    return [
      'docker',
      ...host,
      'exec',
      '-it',
      ...environment,
      '-w',
      this.facts.workdir,
      ...(user === null ? [] : ['-u', String(user)]),
      this.containerId,
      ...command,
    ];
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  async #dispose(): Promise<void> {
    const processes = await this.#processes?.catch(() => null);
    await Promise.all([
      removeContainer(this.#parts.engine, this.containerId),
      this.#originals[Symbol.asyncDispose](),
      processes?.[Symbol.asyncDispose](),
    ]);
    this.#container.attached.destroy();
    this.#watched.forget();
  }

  #makeSandbox(): Sandbox {
    const place = {
      engine: this.#parts.engine,
      events: this.#parts.events,
      containerId: this.containerId,
      env: this.#spec.env,
      cwd: this.facts.workdir,
      user: this.#user(),
      whyGone: () => this.#whyGone(),
      marks: this.#parts.processes === 'helper',
      endTree: async (exec: ExecName) => await (await this.#inside()).endTree(exec),
    };
    return {
      exec: (argv, options) => execInContainer(place, argv, options),
      upload: (tar, path) => this.#files.upload(tar, path),
      download: (path) => this.#files.download(path),
      realPath: (path) => this.#files.realPath(path),
      inside: (path) => path,
    };
  }

  /** PID 1 is root's, so the image's own user has to be said with every exec. */
  #user(): string | number | null {
    return this.#spec.user ?? this.#image.user;
  }

  #inside(): Promise<ContainerProcesses> {
    const parts = { ...this.#parts, description: () => this.#described() };
    this.#processes ??= viewInto(parts, this.containerId, this.#image, this.#spec.labels).then(
      (view) => new ContainerProcesses(view),
      (error: unknown) => {
        this.#processes = null;
        throw error;
      },
    );
    return this.#processes;
  }

  /** Asked once: of what is looked at, its first process and where its layers lie, nothing changes while it runs. */
  #described(): Promise<unknown> {
    this.#description ??= describe(this.#parts.engine, this.containerId).catch((error: unknown) => {
      this.#description = null;
      throw error;
    });
    return this.#description;
  }

  async #whyGone(): Promise<string | null> {
    try {
      const container = await this.#parts.engine.read(ContainerSchema, 'GET', `/containers/${this.containerId}/json`);
      if (container.State.Running) return null;
      return this.#deathCause(container.State.ExitCode, container.State.OOMKilled);
    } catch (error) {
      if (error instanceof EngineRefusal && error.status === 404) return this.#deathCause(null, false);
      return messageOf(error);
    }
  }

  async #whyLost(): Promise<string> {
    // The engine may still be noting what happened.
    for (let waitMs = 20; waitMs < 1500; waitMs *= 2) {
      const cause = await this.#whyGone();
      if (cause !== null) return cause;
      await sleep(waitMs);
    }
    return `the engine at ${this.#parts.engine.endpoint.shown} dropped the connection that holds the container`;
  }

  #deathCause(exitCode: number | null, outOfMemory: boolean): string {
    const death = this.#watched.death();
    const code = death.exitCode ?? exitCode;
    const oom = death.outOfMemory || outOfMemory ? ', after running out of memory' : '';
    return `the container is gone${code === null ? '' : `: its main process ended with ${code}`}${oom}`;
  }
}
