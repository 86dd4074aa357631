import { z } from 'zod';
import type { Change } from '../../sandbox.ts';
import type { EngineClient } from './engine.ts';
import { layerChanges, OverlaySchema } from './upper-layer.ts';

/** What differs from the image. A directory is listed by the engine whenever something in it changed: only one that is new or gone says anything. */
export async function containerChanges(engine: EngineClient, containerId: string, description: unknown): Promise<Change[]> {
  const overlay = OverlaySchema.safeParse(description);
  const quick = overlay.success ? layerChanges(overlay.data.GraphDriver.Data) : null;
  if (quick !== null) return quick;
  return await reportedChanges(engine, containerId);
}

async function reportedChanges(engine: EngineClient, containerId: string): Promise<Change[]> {
  const reported = await engine.read(ChangesSchema, 'GET', `/containers/${containerId}/changes`);
  const parents = new Set((reported ?? []).map((one) => one.Path.slice(0, one.Path.lastIndexOf('/')) || '/'));
  return (reported ?? [])
    .filter((one) => !(one.Kind === 0 && parents.has(one.Path)))
    .map((one) => ({ path: one.Path, kind: KINDS[one.Kind] }))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

const KINDS = { 0: 'modified', 1: 'added', 2: 'deleted' } as const;
const ChangesSchema = z.array(z.looseObject({ Path: z.string(), Kind: z.union([z.literal(0), z.literal(1), z.literal(2)]) })).nullable();
