import { agents } from '../agents/index.ts';

/** What may follow `--agent`, for a person. */
export function agentKinds(): { kind: string; summary: string }[] {
  return Object.entries(agents).map(([kind, { summary }]) => ({ kind, summary }));
}
