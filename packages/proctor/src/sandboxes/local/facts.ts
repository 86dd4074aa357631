import { AppError } from '../../domain/errors.ts';
import type { SandboxFacts, SandboxSpec } from '../../sandbox.ts';

/** Refuses by name what namespaces alone cannot hold. */
export function refuse(spec: SandboxSpec): void {
  const refusal = (capability: string, what: string) =>
    new AppError('cannot_enforce', `${what}; use --sandbox docker`, { details: { capability } });
  if (!isRoot(spec.user)) throw refusal('users', `user ${spec.user} was asked for: the local sandbox has one user, root`);
  if ((spec.gpus ?? 0) > 0) throw refusal('gpus', `${spec.gpus} gpus were asked for: the local sandbox has none`);
  if (spec.network.mode === 'allowlist') {
    throw refusal('allowlist', 'a network allowlist was asked for: the local sandbox has the networks none and public');
  }
}

export function factsOf(spec: SandboxSpec, workdir: string, engine: string): SandboxFacts {
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
    engine,
  };
}

export function isRoot(user: string | number | null | undefined): boolean {
  return user === undefined || user === null || ['', 'root', '0', '0:0', 'root:root'].includes(String(user));
}
