import { z } from 'zod';
import type { OwnedThing } from '../../sandbox.ts';
import { removeContainer } from './container.ts';
import type { EngineClient } from './engine.ts';
import { fromEngineLabels, STORE_LABEL } from './labels.ts';

/** Everything on the engine that carries our labels, whoever made it. Sizes where the engine tells them without measuring. */
export async function listOwned(engine: EngineClient): Promise<OwnedThing[]> {
  const filters = JSON.stringify({ label: [STORE_LABEL] });
  const [containers, images, networks, volumes] = await Promise.all([
    engine.read(z.array(ListedSchema), 'GET', '/containers/json', { query: { all: 1, filters } }),
    engine.read(z.array(ListedSchema), 'GET', '/images/json', { query: { filters } }),
    engine.read(z.array(NetworkSchema), 'GET', '/networks', { query: { filters } }),
    engine.read(VolumesSchema, 'GET', '/volumes', { query: { filters } }),
  ]);
  const epoch = (seconds: number) => new Date(seconds * 1000).toISOString();
  return [
    ...containers.map((one) => ({
      kind: 'container' as const,
      id: one.Id,
      labels: one.Labels,
      bytes: null,
      createdAt: epoch(one.Created),
    })),
    ...images.map((one) => ({
      kind: 'image' as const,
      id: one.Id,
      labels: one.Labels,
      bytes: one.Size ?? null,
      createdAt: epoch(one.Created),
    })),
    ...networks.map((one) => ({ kind: 'network' as const, id: one.Id, labels: one.Labels, bytes: null, createdAt: one.Created })),
    ...(volumes.Volumes ?? []).map((one) => ({
      kind: 'volume' as const,
      id: one.Name,
      labels: one.Labels,
      bytes: null,
      createdAt: one.CreatedAt ?? null,
    })),
  ].flatMap((thing) => {
    const labels = fromEngineLabels(thing.labels);
    return labels === null ? [] : [{ ...thing, labels }];
  });
}

/** Containers first: they hold the rest. What is gone already counts as removed. */
export async function removeOwned(engine: EngineClient, things: readonly OwnedThing[]): Promise<void> {
  const of = (kind: OwnedThing['kind']) => things.filter((thing) => thing.kind === kind);
  await Promise.all(of('container').map((thing) => removeContainer(engine, thing.id)));
  const gone = { accept: [404] };
  for (const thing of of('network')) await engine.call('DELETE', `/networks/${thing.id}`, gone);
  for (const thing of of('volume')) await engine.call('DELETE', `/volumes/${thing.id}`, gone);
  // 409: another image or a container of somebody else stands on it.
  for (const thing of of('image')) await engine.call('DELETE', `/images/${thing.id}`, { query: { force: 1 }, accept: [404, 409] });
}

const LabelsSchema = z.record(z.string(), z.string()).nullish();
const ListedSchema = z.looseObject({ Id: z.string(), Created: z.number(), Size: z.number().optional(), Labels: LabelsSchema });
const NetworkSchema = z.looseObject({ Id: z.string(), Created: z.string(), Labels: LabelsSchema });
const VolumesSchema = z.looseObject({
  Volumes: z.array(z.looseObject({ Name: z.string(), CreatedAt: z.string().optional(), Labels: LabelsSchema })).nullish(),
});
