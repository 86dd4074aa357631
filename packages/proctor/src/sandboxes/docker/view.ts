import process from 'node:process';
import type { PreparedImage, SandboxLabels } from '../../sandbox.ts';
import { ContainerSchema } from './container.ts';
import type { EngineClient } from './engine.ts';
import { HostProcesses, isOfContainer } from './host-processes.ts';
import type { ProcessView } from './processes.ts';

/** This kernel's own /proc where the container is on it and we may signal; else through the engine, with a helper of the original image. */
export async function findView(
  parts: { engine: EngineClient; hostProcesses: boolean },
  containerId: string,
  image: PreparedImage,
  labels: SandboxLabels,
): Promise<ProcessView> {
  const container = await parts.engine.read(ContainerSchema, 'GET', `/containers/${containerId}/json`);
  const { Pid: pid } = container.State;
  if (parts.hostProcesses && process.getuid?.() === 0 && pid > 0 && isOfContainer(pid, containerId)) {
    return new HostProcesses(parts.engine, containerId, pid);
  }
  throw new Error(`not yet: ${image.id} ${labels.store}`);
}
