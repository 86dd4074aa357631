import type { ParsedInput } from '../api/operations.ts';
import { AgentSpecSchema, type AgentVersion } from '../domain/agent-version.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { OperationParts } from './parts.ts';
import { findRecord, versionOf } from './records.ts';

export function agentOperations({ store, engine, resolveAgent }: OperationParts) {
  const show = async (reference: { id: string; version?: number }): Promise<AgentVersion> =>
    versionOf(await findRecord(store, 'agent', reference), AgentSpecSchema);
  return {
    'agents.create': async (input: ParsedInput<'agents.create'>): Promise<AgentVersion> => {
      const resolved = await resolveAgent(input.from, input.environment_names);
      if (resolved.kind === 'id') return show({ id: resolved.id });
      const record = await store.putRecord({
        noun: 'agent',
        idPrefix: 'agent',
        name: input.name ?? resolved.name,
        digest: engine.hash(canonicalJson(resolved.spec)),
        body: resolved.spec,
        createdAt: engine.clock.now().toISOString(),
      });
      return versionOf(record, AgentSpecSchema);
    },
    'agents.list': async (): Promise<AgentVersion[]> => (await store.records('agent')).map((record) => versionOf(record, AgentSpecSchema)),
    'agents.show': show,
  };
}
