import type { Admission, ParsedInput, SessionFile, SessionListing } from '../api/operations.ts';
import { AgentSpecSchema } from '../domain/agent-version.ts';
import { EnvironmentSpecSchema } from '../domain/environment.ts';
import { AppError } from '../domain/errors.ts';
import { ChainCheck, type ChainFault } from '../domain/event-chain.ts';
import type { EventRow, EventType } from '../domain/events.ts';
import { emptyProjection, type Projection, project } from '../domain/session.ts';
import type { SessionSummary } from '../domain/summary.ts';
import type { Task } from '../domain/task.ts';
import type { Frozen } from '../engine/frozen.ts';
import { grantHostNetwork } from '../engine/host-network.ts';
import type { OperationParts } from './parts.ts';
import { findRecord, rememberVersions, versionOf } from './records.ts';
import { sessionFiles } from './session-files.ts';

export function sessionOperations(parts: OperationParts) {
  const { store, sessions, capabilities, engine } = parts;
  const tasks = new Map<string, Task>();
  const agent = rememberVersions(async (reference) => versionOf(await findRecord(store, 'agent', reference), AgentSpecSchema));
  const environment = rememberVersions(async (reference) =>
    versionOf(await findRecord(store, 'environment', reference), EnvironmentSpecSchema),
  );
  const known = async (id: string) => {
    if (sessions.find(id) !== null) return;
    const row = await store.session(id);
    if (row === null) throw new AppError('not_found', `no Session ${id}: list them with proctor sessions list`);
  };
  const require = (frozen: Frozen) => {
    if (frozen.ask.image?.kind === 'build') capabilities.require('image_build');
  };
  return {
    'tasks.put': async ({ task }: ParsedInput<'tasks.put'>): Promise<{ blob: string; digest: string }> => {
      const { sha256 } = await store.putBlob(Buffer.from(JSON.stringify(task)));
      tasks.set(sha256, task);
      return { blob: sha256, digest: task.digest };
    },
    'sessions.admit': async (input: ParsedInput<'sessions.admit'>): Promise<Admission> => {
      const frozen = await sessions.admit(await agent(input.agent), await environment(input.environment_id), input.task);
      require(frozen);
      const { ask, chosen } = frozen;
      const host = { environment: engine.hostEnvironment, certificates: engine.hostCertificates };
      const { notes } = await grantHostNetwork(host, chosen.abilities, ask);
      return {
        provider: chosen.name,
        isolation: chosen.abilities.isolation,
        concurrency: chosen.abilities.concurrency,
        cpus: ask.cpus,
        memory_mb: ask.memoryMb,
        network: ask.network.mode,
        not_enforced: ask.notEnforced,
        notes: [...ask.notes, ...chosen.abilities.notes, ...notes],
      };
    },
    'sessions.create': async (input: ParsedInput<'sessions.create'>): Promise<{ id: string }> => {
      if (input.budget !== undefined) capabilities.require('budgets');
      if (input.regrades !== undefined) capabilities.require('regrade');
      const task = input.task === undefined ? null : { task: await loadTask(input.task), blob: input.task };
      const session = await sessions.create({
        agent: await agent(input.agent),
        environment: await environment(input.environment_id),
        task,
        title: input.title,
        metadata: input.metadata,
        mounts: input.mounts,
        keepState: input.keep_state ?? false,
        experiment: input.experiment ?? null,
      });
      return { id: session.id };
    },
    'sessions.post_event': async (input: ParsedInput<'sessions.post_event'>): Promise<{ seq: number; id: string }> => {
      await known(input.session_id);
      const row = await sessions.get(input.session_id).post(input.type, input.data, engine.author);
      return { seq: row.seq, id: row.id };
    },
    'sessions.show': async ({ session_id }: { session_id: string }): Promise<Projection> => {
      await known(session_id);
      let state = emptyProjection(session_id);
      for await (const rows of store.events(session_id)) state = rows.reduce(project, state);
      return state;
    },
    'sessions.list': async (filter: ParsedInput<'sessions.list'>): Promise<SessionListing[]> =>
      (await store.sessions(filter)).map((row) => ({
        id: row.id,
        status: row.status,
        created_at: row.createdAt,
        last_at: row.lastAt,
        last_seq: row.lastSeq,
        experiment: row.experiment,
        lane: row.lane,
        task: row.taskName,
        owner: row.owner !== null && engine.ownerIsAlive(row.owner) ? row.owner : null,
      })),
    'sessions.summaries': async (filter: ParsedInput<'sessions.summaries'>): Promise<SessionSummary[]> => {
      const found: SessionSummary[] = [];
      for await (const batch of store.summaries(filter)) found.push(...batch);
      return found;
    },
    'sessions.events': async (input: ParsedInput<'sessions.events'>): Promise<EventRow[]> => {
      await known(input.session_id);
      const found: EventRow[] = [];
      const types = input.types as EventType[] | undefined;
      for await (const rows of store.events(input.session_id, { after: input.after, limit: input.limit, types })) found.push(...rows);
      return found;
    },
    'sessions.verify': async ({
      session_id,
    }: {
      session_id: string;
    }): Promise<{ events: number; absent: number; faults: ChainFault[] }> => {
      await known(session_id);
      const check = new ChainCheck(engine.hash);
      for await (const rows of store.events(session_id)) for (const row of rows) check.next(row);
      return { events: check.events, absent: check.absent, faults: check.faults };
    },
    'sessions.files': async ({ session_id }: { session_id: string }): Promise<SessionFile[]> => {
      await known(session_id);
      return sessionFiles(store, session_id);
    },
    'sessions.close': async ({ session_id }: { session_id: string }): Promise<{ closed: boolean }> => {
      await known(session_id);
      return { closed: await sessions.close(session_id) };
    },
  };

  async function loadTask(blob: string): Promise<Task> {
    const cached = tasks.get(blob);
    if (cached !== undefined) return cached;
    const content = await store.blob(blob);
    if (content === null) throw new AppError('not_found', `no compiled task ${blob}: put it with tasks.put first`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    const task = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Task;
    tasks.set(blob, task);
    return task;
  }
}
