import { resolveHostTemplate } from '../host-template.ts';
import type { EnvironmentIntent, FileTree, Healthcheck, ImageIntent, NetworkMode } from '../task.ts';
import { findFile } from './file-tree.ts';
import type { HarborEnvironment, HarborHealthcheck } from './harbor-environment.ts';
import type { HarborNetworkMode, HarborPhaseNetwork } from './harbor-network.ts';
import { childPath } from './key-path.ts';
import type { MappingLog } from './mapping-log.ts';

export function environmentIntent(environment: HarborEnvironment, context: FileTree | null, log: MappingLog): EnvironmentIntent {
  const image = imageIntent(environment, context);
  // Beside a prebuilt image, or beside none at all, nothing else brings these files into the sandbox.
  const hasLooseFiles = context !== null && context.files.length > 0 && findFile(context, 'Dockerfile') === null;
  return {
    image,
    workdir: workdir(environment, log),
    env: literalEnvironment('environment.env', environment.env, log),
    user: null,
    cpus: environment.cpus,
    memory_mb: environment.memory_mb,
    storage_mb: environment.storage_mb,
    gpus: environment.gpus,
    gpu_types: environment.gpu_types,
    os: environment.os,
    tpu: environment.tpu,
    network: { ...phaseNetwork(environment), explicit: environment.is_explicit },
    healthcheck: environment.healthcheck === null ? null : healthcheckIntent(environment.healthcheck),
    upload: hasLooseFiles ? context : null,
  };
}

function imageIntent(environment: HarborEnvironment, context: FileTree | null): ImageIntent | null {
  if (environment.docker_image) return { kind: 'reference', reference: environment.docker_image };
  if (context !== null && findFile(context, 'Dockerfile') !== null)
    return { kind: 'build', context, dockerfile: 'Dockerfile', built: false };
  return null;
}

function workdir(environment: HarborEnvironment, log: MappingLog): string | null {
  if (environment.workdir === null || environment.workdir === '') return null;
  if (!environment.workdir.startsWith('/') && environment.os === 'linux') {
    log.error('environment.workdir', 'wrong value', { expected: 'an absolute path', found: JSON.stringify(environment.workdir) });
  }
  return environment.workdir;
}

const NETWORK: Record<HarborNetworkMode, NetworkMode> = { public: 'public', 'no-network': 'none', allowlist: 'allowlist' };

export function phaseNetwork(phase: HarborPhaseNetwork & { network_mode: HarborNetworkMode }): { mode: NetworkMode; hosts: string[] } {
  return { mode: NETWORK[phase.network_mode], hosts: phase.allowed_hosts ?? [] };
}

export function phaseNetworkOrNone(phase: HarborPhaseNetwork): { mode: NetworkMode; hosts: string[] } | null {
  return phase.network_mode === null ? null : phaseNetwork({ ...phase, network_mode: phase.network_mode });
}

function healthcheckIntent(healthcheck: HarborHealthcheck): Healthcheck {
  return {
    command: healthcheck.command,
    interval_ms: milliseconds(healthcheck.interval_sec),
    timeout_ms: milliseconds(healthcheck.timeout_sec),
    start_period_ms: milliseconds(healthcheck.start_period_sec),
    start_interval_ms: milliseconds(healthcheck.start_interval_sec),
    retries: healthcheck.retries,
  };
}

export function milliseconds(seconds: number): number {
  return Math.max(Math.ceil(seconds * 1000), 0);
}

/** Values as the sandbox gets them: a template with a default is its default, for no variable of the host is read here. */
export function literalEnvironment(path: string, env: Readonly<Record<string, string>>, log: MappingLog): Record<string, string> {
  const entries = Object.entries(env).map(([key, value]): [string, string] => {
    if (key === '' || key.includes('=') || key.includes('\0') || value.includes('\0')) {
      log.error(childPath(path, key), 'this cannot be an environment variable', {
        expected: 'a name without = and no NUL',
        found: JSON.stringify(key),
      });
    }
    const template = resolveHostTemplate(value, () => undefined);
    if (template.kind === 'literal' && template.value !== value) {
      log.warn(childPath(path, key), `the default ${JSON.stringify(template.value)} is used: no variable of the host is read`);
    }
    return [key, template.kind === 'literal' ? template.value : value];
  });
  return Object.fromEntries(entries);
}
