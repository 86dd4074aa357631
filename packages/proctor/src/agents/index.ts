import type { AgentKind } from '../agent.ts';
import { command } from './command.ts';
import { folder } from './folder.ts';
import { module } from './module.ts';
import { nop } from './nop.ts';
import { oracle } from './oracle.ts';

export const agents = { oracle, nop, command, folder, module } satisfies Record<string, AgentKind>;

/** The kind of a frozen spec; undefined when this build has none of that name. */
export function agentKind(name: string): AgentKind | undefined {
  return Object.hasOwn(agents, name) ? agents[name as keyof typeof agents] : undefined;
}
