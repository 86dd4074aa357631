import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { PreparedImage, SandboxSpec } from '../../sandbox.ts';
import { collect, packEntries } from '../../system/tar.ts';
import { type EngineClient, EngineRefusal } from './engine.ts';
import { endedEntrypoint, entrypointOf, entrypointRequest, Handover } from './entrypoint.ts';
import { ContainerFiles } from './files.ts';
import { toEngineLabels } from './labels.ts';

export type RunningContainer = { id: string; attached: Duplex; workdir: string };

/**
 * Create, attach, start. PID 1 is `cat` on a stdin that this process holds: when we end, by whatever means, the kernel closes it, `cat` ends
 * and the engine removes the container. An image's own entrypoint runs in front of it: tasks start their services there. The signal is looked
 * at between the calls: one cut short would leave a container nobody knows.
 */
export async function startContainer(
  engine: EngineClient,
  image: PreparedImage,
  spec: SandboxSpec,
  signal?: AbortSignal,
): Promise<RunningContainer> {
  const workdir = spec.workdir ?? image.workdir ?? '/app';
  const entrypoint = await entrypointOf(engine, image);
  const word = randomUUID();
  const own = entrypoint.length === 0 ? {} : entrypointRequest(entrypoint, image, spec, word);
  signal?.throwIfAborted();
  const id = await createContainer(engine, { ...containerRequest(image, spec, workdir), ...own });
  try {
    const { socket } = await engine.upgrade(`/containers/${id}/attach`, {
      query: { stream: 1, stdin: 1, stdout: 1, ...(entrypoint.length === 0 ? {} : { stderr: 1 }) },
    });
    // Nobody may write to it; that `cat` ended is heard on its stdout.
    socket.on('error', () => undefined);
    const handover = entrypoint.length === 0 ? null : new Handover(socket, word);
    socket.resume();
    try {
      if (handover !== null) await makeDirectory(engine, id, workdir);
      signal?.throwIfAborted();
      await engine.call('POST', `/containers/${id}/start`);
      await handover?.wait(entrypoint);
      signal?.throwIfAborted();
    } catch (error) {
      socket.destroy();
      throw startFailure(error, image, spec, entrypoint);
    }
    return { id, attached: socket, workdir };
  } catch (error) {
    await removeContainer(engine, id);
    throw error;
  }
}

/** Errors: image_unavailable where the image is gone. */
export async function createContainer(engine: EngineClient, body: { Image: string } & Record<string, unknown>): Promise<string> {
  try {
    return (await engine.read(CreatedSchema, 'POST', '/containers/create', { body })).Id;
  } catch (error) {
    if (!(error instanceof EngineRefusal) || error.status !== 404) throw error;
    throw new AppError('image_unavailable', `image ${body.Image} was prepared and is not on the engine any more: prepare it again`, {
      cause: error,
      details: { attribution: 'infrastructure' },
    });
  }
}

/** Gone when this resolves, or the engine is. Does not throw. */
export async function removeContainer(engine: EngineClient, id: string): Promise<void> {
  try {
    const reply = await engine.call('DELETE', `/containers/${id}`, { query: { force: 1, v: 1 }, accept: [404, 409] });
    // 409: its own end is removing it.
    if (reply.status === 409)
      await engine.call('POST', `/containers/${id}/wait`, { query: { condition: 'removed' }, accept: [404], timeLimitMs: 30_000 });
  } catch {
    // Labelled: a sweep finds it.
  }
}

function containerRequest(image: PreparedImage, spec: SandboxSpec, workdir: string): { Image: string } & Record<string, unknown> {
  return {
    Image: image.id,
    Entrypoint: ['cat'],
    Cmd: [],
    // Not the image's user, so that an exec may be of any.
    User: '0',
    WorkingDir: workdir,
    Labels: toEngineLabels(spec.labels),
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: false,
    AttachStderr: false,
    // The image's own check would be processes of nobody.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      AutoRemove: true,
      Init: false,
      NetworkMode: spec.network.mode === 'public' ? 'bridge' : 'none',
      LogConfig: { Type: 'none' },
      Mounts: spec.mounts.map((mount) => ({ Type: 'bind', Source: mount.source, Target: mount.path, ReadOnly: true })),
      ...(spec.cpus === null ? {} : { NanoCpus: Math.round(spec.cpus * 1e9) }),
      ...(spec.memoryMb === null ? {} : { Memory: spec.memoryMb * 2 ** 20, MemorySwap: spec.memoryMb * 2 ** 20 }),
      ...(spec.pids === null ? {} : { PidsLimit: spec.pids }),
      ...(spec.gpus === null || spec.gpus === 0 ? {} : { DeviceRequests: [{ Count: spec.gpus, Capabilities: [['gpu']] }] }),
    },
  };
}

/** The engine makes the directory that a container starts in; this one only its commands start in. */
async function makeDirectory(engine: EngineClient, id: string, directory: string): Promise<void> {
  const files = new ContainerFiles(engine, id);
  if ((await files.realPath(directory)) !== null) return;
  await files.upload(await collect(packEntries([{ path: directory.replace(/^\/+/, ''), type: 'directory', mode: 0o755 }])), '/');
}

function startFailure(error: unknown, image: PreparedImage, spec: SandboxSpec, entrypoint: readonly string[]): unknown {
  if (!(error instanceof EngineRefusal)) return error;
  const message = messageOf(error);
  if (entrypoint.length > 0 && /exec: /.test(message)) return endedEntrypoint(entrypoint, message, error);
  if (/exec: "cat"/.test(message)) {
    return new AppError(
      'image_unavailable',
      `image ${image.id} cannot be a sandbox: expected a program \`cat\` on its PATH, found none; add coreutils or busybox to it`,
      {
        cause: error,
        details: { attribution: 'task' },
      },
    );
  }
  if (spec.gpus !== null && spec.gpus > 0 && /device driver|gpu|nvidia/i.test(message)) {
    return new AppError('cannot_enforce', `${spec.gpus} gpus were asked for and this engine grants none: ${message}`, {
      cause: error,
      details: { limit: 'gpus' },
    });
  }
  return error;
}

const CreatedSchema = z.looseObject({ Id: z.string() });

export const ContainerSchema = z.looseObject({
  Id: z.string(),
  State: z.looseObject({
    Running: z.boolean(),
    Pid: z.number(),
    OOMKilled: z.boolean(),
    ExitCode: z.number(),
    Error: z.string().optional(),
  }),
  HostConfig: z.looseObject({ Tmpfs: z.record(z.string(), z.string()).nullish() }),
  Mounts: z.array(z.looseObject({ Type: z.string(), Destination: z.string(), RW: z.boolean() })),
});
