import { messageOf } from '../domain/errors.ts';
import type { EventDraft } from '../domain/events.ts';
import { emptyProjection, openOutcome, project } from '../domain/session.ts';
import type { OwnedThing } from '../sandbox.ts';
import type { SessionRow } from '../store.ts';
import type { EngineParts } from './parts.ts';

export type Swept = { interrupted: string[]; removed: OwnedThing[]; problems: string[] };

/** Ends Sessions whose owner is provably gone, as interrupted by infrastructure, and removes what this store's dead owners left. A living neighbour's things stay. */
export async function sweep(parts: EngineParts): Promise<Swept> {
  const interrupted: string[] = [];
  const problems: string[] = [];
  for (const row of await parts.store.sessions({ open: true })) {
    if (row.owner === null || parts.ownerIsAlive(row.owner)) continue;
    try {
      await endSession(parts, row);
      interrupted.push(row.id);
    } catch (error) {
      problems.push(`Session ${row.id}: ${messageOf(error)}`);
    }
  }
  const removed: OwnedThing[] = [];
  for (const { name, provider } of parts.allProviders()) {
    try {
      const dead = (await provider.owned()).filter(
        (thing) => thing.labels.store === parts.store.id && thing.kind !== 'image' && !parts.ownerIsAlive(thing.labels.owner),
      );
      await provider.remove(dead);
      removed.push(...dead);
    } catch (error) {
      // Trying one out costs more than listing its things: asked only now. What cannot be used here has left nothing that we could remove.
      if ((await provider.unusable()) === null) problems.push(`${name}: ${messageOf(error)}`);
    }
  }
  return { interrupted, removed, problems };
}

async function endSession(parts: EngineParts, row: SessionRow): Promise<void> {
  let state = emptyProjection(row.id);
  let openRun: string | null = null;
  for await (const batch of parts.store.events(row.id)) {
    for (const event of batch) {
      state = project(state, event);
      if (event.type === 'run.started') openRun = event.run_id;
      if (event.type === 'run.completed' || event.type === 'run.failed' || event.type === 'run.interrupted') openRun = null;
    }
  }
  const writer = await parts.store.claimSession(row.id, parts.owner);
  const at = parts.clock.now().toISOString();
  const outcome = openOutcome(state);
  const drafts: EventDraft[] = [];
  if (openRun !== null)
    drafts.push({ type: 'run.interrupted', at, author: 'engine', run_id: openRun, data: { reason: 'owner_gone', active_ms: null } });
  if (outcome !== null) {
    drafts.push({
      type: 'outcome.settled',
      at,
      author: 'engine',
      data: {
        outcome_id: outcome.id,
        result: 'interrupted',
        reason: 'owner_gone',
        iterations: outcome.iteration,
        reward: null,
        attribution: 'infrastructure',
      },
    });
  }
  drafts.push({
    type: 'session.closed',
    at,
    author: 'engine',
    data: { reason: 'owner_gone', detail: 'the process that drove it is gone' },
  });
  await writer.append(drafts);
  await writer.release();
}
