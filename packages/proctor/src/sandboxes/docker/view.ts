import process from 'node:process';
import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { PreparedImage, SandboxLabels } from '../../sandbox.ts';
import { ContainerSchema } from './container.ts';
import type { EngineClient } from './engine.ts';
import { Helper } from './helper.ts';
import { HelperProcesses } from './helper-processes.ts';
import { HostProcesses, isOfContainer } from './host-processes.ts';
import type { ProcessView } from './processes.ts';

/** `host` = the engine's processes are in this kernel's /proc and we may signal them; `helper` = only the engine reaches them. */
export type Sight = 'host' | 'helper';

export async function findSight(engine: EngineClient, containerId: string): Promise<Sight> {
  const pid = mainPid(await describe(engine, containerId), containerId);
  return process.platform === 'linux' && process.getuid?.() === 0 && isOfContainer(pid, containerId) ? 'host' : 'helper';
}

export async function viewInto(
  parts: { engine: EngineClient; processes: Sight; description(): Promise<unknown> },
  containerId: string,
  image: PreparedImage,
  labels: SandboxLabels,
): Promise<ProcessView> {
  if (parts.processes === 'helper') return new HelperProcesses(parts.engine, new Helper(parts.engine, containerId, image, labels));
  const pid = mainPid(await parts.description(), containerId);
  if (!isOfContainer(pid, containerId)) {
    throw new AppError('sandbox_lost', `process ${pid} is no process of container ${containerId.slice(0, 12)}: its main process has ended`);
  }
  return new HostProcesses(parts.engine, containerId, pid);
}

/** All that the engine says of a container. */
export async function describe(engine: EngineClient, containerId: string): Promise<unknown> {
  return await engine.read(z.unknown(), 'GET', `/containers/${containerId}/json`);
}

function mainPid(description: unknown, containerId: string): number {
  const pid = ContainerSchema.safeParse(description).data?.State.Pid ?? 0;
  if (pid > 0) return pid;
  throw new AppError('sandbox_lost', `container ${containerId.slice(0, 12)} has no main process any more`);
}
