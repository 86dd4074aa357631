import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { PreparedImage, SandboxLabels, SandboxLease, SandboxSpec, Snapshot } from '../../sandbox.ts';
import { ContainerSchema } from './container.ts';
import type { EngineClient } from './engine.ts';
import { ContainerFiles } from './files.ts';
import { inspectImage, toPrepared } from './image-config.ts';
import { toEngineLabels } from './labels.ts';

/** The repository of filesystems kept under a key. `localhost/` keeps any engine from asking a registry for it. */
const KEPT_REPOSITORY = 'localhost/proctor-kept';

/** A commit, which leaves mounts out, and beside it a copy of every writable volume and tmpfs. */
export async function snapshotOf(
  parts: { engine: EngineClient; directory: string },
  containerId: string,
  image: PreparedImage,
  spec: SandboxSpec,
): Promise<DockerSnapshot> {
  const { engine } = parts;
  const container = await engine.read(ContainerSchema, 'GET', `/containers/${containerId}/json`);
  const mounts = [
    ...container.Mounts.filter((mount) => mount.Type !== 'bind' && mount.RW).map((mount) => mount.Destination),
    ...Object.keys(container.HostConfig.Tmpfs ?? {}),
  ];
  const folder = path.join(parts.directory, `snapshot-${randomUUID()}`);
  const copies: { path: string; file: string }[] = [];
  const missing: string[] = [];
  const files = new ContainerFiles(engine, containerId);
  const id = await commit(engine, containerId, image, spec.labels, null);
  for (const mount of [...new Set(mounts)].sort()) {
    const tar = await files.download(mount).catch(() => null);
    if (tar === null) {
      missing.push(mount);
      continue;
    }
    await mkdir(folder, { recursive: true });
    const file = path.join(folder, `${copies.length}.tar`);
    try {
      await pipeline(tar, createWriteStream(file));
      copies.push({ path: mount, file });
    } catch {
      missing.push(mount);
    }
  }
  return new DockerSnapshot(engine, id, missing, copies, folder, { ...image, id, digest: null, built: false, durationMs: 0, log: '' });
}

class DockerSnapshot implements Snapshot {
  readonly id: string;
  readonly missing: readonly string[];
  readonly copies: readonly { path: string; file: string }[];
  readonly image: PreparedImage;
  readonly #engine: EngineClient;
  readonly #folder: string;

  constructor(
    engine: EngineClient,
    id: string,
    missing: readonly string[],
    copies: readonly { path: string; file: string }[],
    folder: string,
    image: PreparedImage,
  ) {
    this.#engine = engine;
    this.id = id;
    this.missing = missing;
    this.copies = copies;
    this.#folder = folder;
    this.image = image;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine.call('DELETE', `/images/${this.id}`, { query: { force: 1 }, accept: [404, 409] }).catch(() => undefined);
    await rm(this.#folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Opens a fresh container on the snapshot: none of the old processes, no network. */
export async function verifierFrom<T extends SandboxLease>(from: Snapshot, open: (image: PreparedImage) => Promise<T>): Promise<T> {
  if (!(from instanceof DockerSnapshot))
    throw new AppError('internal', 'a docker sandbox was asked to open the snapshot of another provider');
  const lease = await open(from.image);
  try {
    for (const copy of from.copies) await lease.sandbox.upload(createReadStream(copy.file), path.posix.dirname(copy.path));
    return lease;
  } catch (error) {
    await lease[Symbol.asyncDispose]();
    throw error;
  }
}

export async function keepFilesystem(
  engine: EngineClient,
  containerId: string,
  image: PreparedImage,
  labels: SandboxLabels,
  key: string,
): Promise<PreparedImage> {
  const id = await commit(engine, containerId, image, labels, key);
  return { ...image, id, digest: null, built: false, durationMs: 0, log: '' };
}

export async function findKept(engine: EngineClient, key: string): Promise<PreparedImage | null> {
  const image = await inspectImage(engine, `${KEPT_REPOSITORY}:${keptTag(key)}`);
  return image === null ? null : toPrepared(image, { reference: null, built: false, durationMs: 0, log: '' });
}

/** The image keeps the configuration it came with, not the sandbox's. */
async function commit(
  engine: EngineClient,
  containerId: string,
  image: PreparedImage,
  labels: SandboxLabels,
  key: string | null,
): Promise<string> {
  const original = await inspectImage(engine, image.id);
  const reply = await engine.read(CommittedSchema, 'POST', '/commit', {
    query: { container: containerId, pause: 1, ...(key === null ? {} : { repo: KEPT_REPOSITORY, tag: keptTag(key) }) },
    body: {
      ...original?.Config,
      Entrypoint: original?.Config?.Entrypoint ?? [],
      Labels: { ...original?.Config?.Labels, ...toEngineLabels(labels) },
    },
    timeLimitMs: null,
  });
  return reply.Id;
}

function keptTag(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

const CommittedSchema = z.looseObject({ Id: z.string() });
