import type { AgentVersion } from '../domain/agent-version.ts';
import type { EnvironmentVersion } from '../domain/environment.ts';
import { AppError } from '../domain/errors.ts';
import type { Task } from '../domain/task.ts';
import { TreeContent } from '../system/tree-content.ts';
import { admit, captureRoots } from './admission.ts';
import type { Frozen } from './frozen.ts';
import { createHostRoom, type HostRoom } from './host-room.ts';
import { LiveSession } from './live-session.ts';
import { checkMounts } from './mounts.ts';
import type { EngineParts } from './parts.ts';
import { SessionLog } from './session-log.ts';
import type { SessionPhase } from './session-settings.ts';

export type NewLiveSession = {
  agent: AgentVersion;
  environment: EnvironmentVersion;
  task: { task: Task; blob: string } | null;
  title?: string;
  metadata?: Record<string, string>;
  mounts?: { path: string; sha256: string }[];
  keepState?: boolean;
  experiment: { name: string; lane: string; repetition: number; attempt: number; trial: string } | null;
};

/** The Sessions whose writer is this process. */
export class Sessions {
  #parts: EngineParts;
  #live = new Map<string, LiveSession>();
  #content = new TreeContent();
  #room: HostRoom;
  #listeners = new Set<(sessionId: string, phase: SessionPhase) => void>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#room = createHostRoom(parts.host);
  }

  /** What a Session would freeze. Creates nothing. */
  async admit(agent: AgentVersion, environment: EnvironmentVersion, task: Task | null): Promise<Frozen> {
    const parts = this.#parts;
    const chosen = await parts.provider(environment.spec);
    const kind = parts.agentKind(agent.spec.kind);
    const unset = agent.spec.environment_names.find((name) => parts.hostEnvironment[name] === undefined);
    if (unset !== undefined)
      throw new AppError(
        'invalid_configuration',
        `agent ${agent.name} is granted the host variable ${unset}, and it is not set: export ${unset}, or leave it out`,
      );
    const ask = admit(task, agent, kind, environment.spec, chosen, parts.host, this.#content);
    return { agent, environment, task, chosen, ask, captureRoots: captureRoots(task, environment.spec, ask.workdir ?? '/app'), mounts: [] };
  }

  async create(wanted: NewLiveSession): Promise<LiveSession> {
    const parts = this.#parts;
    const mounts = wanted.mounts ?? [];
    await checkMounts(parts.store, mounts);
    const frozen = { ...(await this.admit(wanted.agent, wanted.environment, wanted.task?.task ?? null)), mounts };
    const id = parts.newId('sesn');
    const createdAt = parts.clock.now().toISOString();
    const task = wanted.task?.task ?? null;
    const { ask, chosen } = frozen;
    const image =
      ask.image === null
        ? null
        : ask.image.kind === 'reference'
          ? { kind: 'reference' as const, reference: ask.image.reference, digest: digestIn(ask.image.reference) }
          : { kind: 'build' as const, context_digest: ask.image.context.digest, dockerfile: ask.image.dockerfile };
    const version = ({ id, version, name, digest, spec }: AgentVersion) => ({ id, version, name, digest, spec });
    const data = {
      agent: version(wanted.agent),
      environment: {
        id: wanted.environment.id,
        version: wanted.environment.version,
        name: wanted.environment.name,
        digest: wanted.environment.digest,
        spec: wanted.environment.spec,
      },
      sandbox: {
        provider: chosen.name,
        isolation: chosen.abilities.isolation,
        image,
        workdir: ask.workdir,
        cpus: ask.cpus,
        memory_mb: ask.memoryMb,
        pids: ask.pids,
        network: ask.network.mode,
        not_enforced: ask.notEnforced,
      },
      task:
        task === null || wanted.task === null
          ? null
          : { name: task.name, digest: task.digest, format: task.format, blob: wanted.task.blob, tags: task.tags },
      ...(wanted.title === undefined ? {} : { title: wanted.title }),
      metadata: wanted.metadata ?? {},
      experiment: wanted.experiment,
      mounts: frozen.mounts,
      capture_roots: frozen.captureRoots,
    };
    const writer = await parts.store.createSession(
      {
        id,
        owner: parts.owner,
        experiment: wanted.experiment?.name ?? null,
        trial: wanted.experiment?.trial ?? null,
        lane: wanted.experiment?.lane ?? null,
        taskName: task?.name ?? null,
        createdAt,
      },
      [{ type: 'session.created', at: createdAt, author: parts.author, data }],
    );
    const onPhase = (phase: SessionPhase) => {
      for (const listener of this.#listeners) listener(id, phase);
    };
    const session = new LiveSession({
      parts,
      id,
      log: new SessionLog(writer, parts.clock),
      frozen,
      content: this.#content,
      room: this.#room,
      keepState: wanted.keepState ?? false,
      onPhase,
    });
    this.#live.set(id, session);
    return session;
  }

  /** Errors: not_found when this process is not its writer. */
  get(id: string): LiveSession {
    const session = this.#live.get(id);
    if (session === undefined)
      throw new AppError('not_found', `Session ${id} is not driven by this process: only the client that started it can post to it`);
    return session;
  }

  onPhase(listener: (sessionId: string, phase: SessionPhase) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  find(id: string): LiveSession | null {
    return this.#live.get(id) ?? null;
  }

  async close(id: string): Promise<boolean> {
    const session = this.#live.get(id);
    if (session === undefined) return false;
    await session.close('client');
    this.#live.delete(id);
    return true;
  }

  /** Ends everything that this process runs. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((id) => this.close(id)));
  }
}

function digestIn(reference: string): string | null {
  return /@(sha256:[0-9a-f]{64})$/.exec(reference)?.[1] ?? null;
}
