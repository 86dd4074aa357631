import type { AgentSpec } from '../domain/agent-version.ts';
import type { EngineParts } from '../engine/parts.ts';
import type { Sessions } from '../engine/sessions.ts';
import type { Store } from '../store.ts';
import type { Capabilities } from './capabilities.ts';

export type OperationParts = {
  store: Store;
  engine: EngineParts;
  sessions: Sessions;
  capabilities: Capabilities;
  /** What a person wrote for an agent: an id to look up, or a spec to find or create. */
  resolveAgent(
    from: string,
    environmentNames: readonly string[],
  ): Promise<{ kind: 'id'; id: string } | { kind: 'spec'; name: string; spec: AgentSpec }>;
};
