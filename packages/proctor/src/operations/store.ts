import type { Capability, OwnedListing, ParsedInput } from '../api/operations.ts';
import { EnvironmentSpecSchema } from '../domain/environment.ts';
import { sweep } from '../engine/recovery.ts';
import type { OwnedThing } from '../sandbox.ts';
import type { OperationParts } from './parts.ts';
import { findRecord, versionOf } from './records.ts';

export function storeOperations({ store, engine, capabilities }: OperationParts) {
  const owned = async (): Promise<{ provider: string; thing: OwnedThing; listing: OwnedListing; remove(): Promise<void> }[]> => {
    const found = [];
    for (const { name, provider } of await engine.usableProviders()) {
      for (const thing of await provider.owned()) {
        const state: OwnedListing['state'] =
          thing.labels.store !== store.id ? 'foreign' : engine.ownerIsAlive(thing.labels.owner) ? 'living' : 'gone';
        const listing = {
          kind: thing.kind,
          id: thing.id,
          session: thing.labels.session,
          state,
          expires_at: thing.labels.expiresAt,
          bytes: thing.bytes,
        };
        found.push({ provider: name, thing, listing, remove: () => provider.remove([thing]) });
      }
    }
    return found;
  };
  return {
    'capabilities.list': async (): Promise<Capability[]> => {
      const usable = await engine.usableProviders();
      const providers: Capability[] = [];
      for (const { name, abilities } of usable)
        providers.push({ name: `sandbox_${name}`, state: 'on', reason: `isolation ${abilities.isolation}, ${abilities.engine}` });
      for (const { name, reason } of await engine.unusableProviders()) providers.push({ name: `sandbox_${name}`, state: 'off', reason });
      return capabilities.list(providers);
    },
    'sandboxes.list': async (): Promise<OwnedListing[]> => (await owned()).map((one) => one.listing),
    'sandboxes.ready': async (input: ParsedInput<'sandboxes.ready'>): Promise<{ ready: boolean; reason: string | null }> => {
      const { spec } = versionOf(await findRecord(store, 'environment', input.environment_id), EnvironmentSpecSchema);
      const reason = await (await engine.provider(spec)).provider.unusable();
      return { ready: reason === null, reason };
    },
    'store.collect': async (
      input: ParsedInput<'store.collect'>,
    ): Promise<{ removed: OwnedListing[]; blobs: number; bytes: number; interrupted: number }> => {
      const now = engine.clock.now();
      const interrupted = input.dry_run ? 0 : (await sweep(engine)).interrupted.length;
      const past = now.getTime() - input.older_than_ms;
      const goes = (await owned()).filter(({ thing, listing }) => {
        if (listing.state === 'foreign')
          return (
            input.all_stores &&
            thing.kind !== 'image' &&
            Date.parse(thing.labels.expiresAt) < now.getTime() &&
            !engine.ownerIsAlive(thing.labels.owner)
          );
        if (listing.state === 'living') return false;
        return thing.kind !== 'image' || (thing.createdAt !== null && Date.parse(thing.createdAt) < past);
      });
      if (!input.dry_run) for (const one of goes) await one.remove();
      const blobs = await store.collectBlobs({ olderThanMs: input.older_than_ms, maxBytes: input.max_bytes, dryRun: input.dry_run });
      const listed = goes.map((one) => one.listing);
      return {
        removed: listed,
        blobs: blobs.blobs,
        bytes: blobs.bytes + listed.reduce((sum, one) => sum + (one.bytes ?? 0), 0),
        interrupted,
      };
    },
  };
}
