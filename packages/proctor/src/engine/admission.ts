import type { AgentKind } from '../agent.ts';
import type { AgentVersion } from '../domain/agent-version.ts';
import type { EnvironmentSpec } from '../domain/environment.ts';
import { AppError } from '../domain/errors.ts';
import type { ImageIntent, NetworkMode, Task } from '../domain/task.ts';
import type { TreeContent } from '../system/tree-content.ts';
import type { ChosenProvider, EngineParts } from './parts.ts';
import { ARTIFACTS_DIRECTORY } from './places.ts';

/** A task's asks after an Environment granted them. */
export type SandboxAsk = {
  image: ImageIntent | null;
  workdir: string | null;
  env: Record<string, string>;
  user: string | number | null;
  cpus: number | null;
  memoryMb: number | null;
  storageMb: number | null;
  gpus: number | null;
  pids: number | null;
  network: { mode: NetworkMode; hosts: string[] };
  notEnforced: string[];
  /** Said once on a report. */
  notes: string[];
};

const STANDARD_ROOTS = [ARTIFACTS_DIRECTORY];
/** Where plain processes have no root of their own, a script must take its places from these. */
const PLACE_VARIABLES = ['PROCTOR_TESTS', 'PROCTOR_LOGS', 'PROCTOR_WORKDIR'];

/** Merges what a task asks with what the Environment grants, or refuses by field. Creates nothing. */
export function admit(
  task: Task | null,
  agent: AgentVersion,
  kind: AgentKind,
  environment: EnvironmentSpec,
  chosen: ChosenProvider,
  host: EngineParts['host'],
  content: TreeContent,
): SandboxAsk {
  const refusal = task === null ? null : (kind.refuses?.(agent.spec, task) ?? null);
  if (refusal !== null) throw new AppError('invalid_configuration', refusal);
  const asked = task?.environment ?? null;
  if (asked !== null && asked.os !== 'linux')
    throw notEnabled('windows', `task ${task?.name} needs ${asked.os} containers: this build runs Linux sandboxes only`);
  if (asked?.tpu != null) throw notEnabled('tpu', `task ${task?.name} asks for a TPU: no sandbox here has one`);
  const abilities = chosen.abilities;
  const notes: string[] = [];
  const notEnforced: string[] = [];

  const image = settleImage(task, environment, chosen, notes);
  const cpus = settle(
    'cpus',
    asked?.cpus ?? null,
    environment.cpus,
    environment.max_cpus,
    abilities.enforces.has('cpus') ? host.cpus : null,
  );
  const memoryMb = settle(
    'memory_mb',
    asked?.memory_mb ?? null,
    environment.memory_mb,
    environment.max_memory_mb,
    abilities.enforces.has('memory') ? host.memoryMb : null,
  );
  if (cpus !== null && !abilities.enforces.has('cpus')) notEnforced.push('cpus');
  if (memoryMb !== null && !abilities.enforces.has('memory')) notEnforced.push('memory_mb');
  if (environment.pids !== null && !abilities.enforces.has('pids')) notEnforced.push('pids');
  if (asked?.storage_mb != null && !abilities.enforces.has('storage')) notEnforced.push('storage_mb');
  if (asked?.gpu_types != null && asked.gpu_types.length > 0 && !abilities.enforces.has('gpu_types')) notEnforced.push('gpu_types');
  if ((asked?.gpus ?? 0) > 0 && !abilities.enforces.has('gpus')) throw cannotEnforce('gpus', `${asked?.gpus} GPUs`, chosen);
  if (!abilities.enforces.has('users')) {
    for (const user of [asked?.user, task?.agent.user, task?.verifier?.user]) {
      if (user != null && user !== 'root' && user !== 0 && user !== '0') throw cannotEnforce('user', `user ${user}`, chosen);
    }
  }
  const network = settleNetwork(task, environment, chosen, notes);
  for (const phase of [task?.agent.network, task?.verifier?.network]) {
    if (phase != null && phase.mode !== network.mode)
      throw notEnabled(
        'phase_network',
        `task ${task?.name} changes its network policy between phases (${phase.mode} beside ${network.mode}): this build keeps one policy for a Session`,
      );
  }
  if (abilities.isolation === 'none' && task !== null) refuseFixedPlaces(task, content);
  return {
    image,
    workdir: asked?.workdir ?? null,
    env: asked?.env ?? {},
    user: asked?.user ?? null,
    cpus,
    memoryMb,
    storageMb: asked?.storage_mb ?? null,
    gpus: asked?.gpus ?? null,
    pids: environment.pids,
    network,
    notEnforced,
    notes,
  };
}

/** The frozen places from which deliverables may be taken. */
export function captureRoots(task: Task | null, environment: EnvironmentSpec, workdir: string): string[] {
  const artifacts = (task?.artifacts ?? []).map((artifact) =>
    artifact.source.startsWith('/') ? artifact.source : `${workdir}/${artifact.source}`,
  );
  return [...new Set([workdir, ...STANDARD_ROOTS, ...environment.capture_roots, ...artifacts])];
}

function settleImage(task: Task | null, environment: EnvironmentSpec, chosen: ChosenProvider, notes: string[]): ImageIntent | null {
  const template = environment.image_template;
  const declared = task?.environment.image ?? null;
  const image =
    declared?.kind !== 'reference' && template !== null && task !== null
      ? ({ kind: 'reference', reference: template.replaceAll('{id}', task.name.split('/').at(-1) ?? task.name) } as const)
      : declared;
  if (!chosen.abilities.images) {
    if (image === null) return null;
    if (!environment.ignore_image) {
      throw new AppError(
        'cannot_enforce',
        `task ${task?.name} declares an image, and the sandbox ${chosen.name} runs no images: use --sandbox docker, or --ignore-image to run it on this host's programs`,
        { details: { field: 'image' } },
      );
    }
    notes.push(`the declared image of ${task?.name} was ignored`);
    return null;
  }
  if (image === null) {
    throw new AppError(
      'image_required',
      `task ${task?.name ?? '(none)'} resolves to no image: declare [environment] image, add environment/Dockerfile, pass --image-template, or use --sandbox local`,
    );
  }
  if (image.kind === 'build' && !environment.build)
    throw new AppError(
      'image_required',
      `task ${task?.name} would need its Dockerfile built, and --no-build allows references only: pass --image-template or drop --no-build`,
    );
  return image;
}

function settle(field: string, asked: number | null, given: number | null, most: number | null, host: number | null): number | null {
  const value = given ?? asked;
  if (value === null) return null;
  if (most !== null && value > most)
    throw new AppError(
      'not_granted',
      `the task asks for ${field} = ${value} and the Environment grants at most ${most}: raise max_${field} or choose another Environment`,
      { details: { field } },
    );
  if (host !== null && value > host) {
    throw new AppError(
      'cannot_enforce',
      `${field} = ${value} is asked for and this host has ${Math.floor(host)}: run it on a larger host, or give the Environment ${field} = ${Math.floor(host)} to run it with less`,
      { details: { field } },
    );
  }
  return value;
}

function settleNetwork(task: Task | null, environment: EnvironmentSpec, chosen: ChosenProvider, notes: string[]): SandboxAsk['network'] {
  const asked = task?.environment.network ?? { mode: 'public' as const, hosts: [], explicit: false };
  if (asked.mode === 'allowlist')
    throw notEnabled(
      'allowlist',
      `task ${task?.name} asks for an allow-list: it is refused rather than weakened until the egress proxy exists`,
    );
  if (environment.network === 'none' && asked.mode !== 'none') {
    if (asked.explicit)
      throw new AppError(
        'not_granted',
        `task ${task?.name} asks for network ${asked.mode} and the Environment grants none: choose another Environment or drop --network none`,
        { details: { field: 'network' } },
      );
    notes.push('network closed by the Environment');
  }
  const mode: NetworkMode = environment.network === 'none' ? 'none' : asked.mode === 'none' ? 'none' : 'public';
  if (!chosen.abilities.networks.includes(mode)) throw cannotEnforce('network', `network ${mode}`, chosen);
  return { mode, hosts: [] };
}

function refuseFixedPlaces(task: Task, content: TreeContent): void {
  const scripts = [task.verifier?.files, task.solution?.files].flatMap((tree) =>
    tree == null ? [] : tree.files.filter((file) => !file.asset).map((file) => Buffer.from(content.of(tree)(file.path)).toString('utf8')),
  );
  const missing = PLACE_VARIABLES.filter((name) => !scripts.some((script) => script.includes(name)));
  if (missing.length > 0) {
    throw new AppError(
      'cannot_enforce',
      `task ${task.name} cannot run with --isolation none: its scripts use fixed places instead of ${missing.join(', ')}. Use --sandbox docker or local`,
      { details: { field: 'isolation' } },
    );
  }
}

function cannotEnforce(field: string, what: string, chosen: ChosenProvider): AppError {
  return new AppError(
    'cannot_enforce',
    `${what} cannot be enforced by the ${chosen.name} sandbox here: choose another sandbox or a task without it`,
    { details: { field } },
  );
}

function notEnabled(capability: string, message: string): AppError {
  return new AppError('capability_not_enabled', `${message} (capability ${capability})`, { details: { capability } });
}
