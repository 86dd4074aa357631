import type { ParsedInput } from '../api/operations.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { EnvironmentSpecSchema, type EnvironmentVersion } from '../domain/environment.ts';
import type { OperationParts } from './parts.ts';
import { findRecord, versionOf } from './records.ts';

export function environmentOperations({ store, engine }: OperationParts) {
  return {
    'environments.create': async ({ name, spec }: ParsedInput<'environments.create'>): Promise<EnvironmentVersion> => {
      const record = await store.putRecord({
        noun: 'environment',
        idPrefix: 'env',
        name,
        digest: engine.hash(canonicalJson(spec)),
        body: spec,
        createdAt: engine.clock.now().toISOString(),
      });
      return versionOf(record, EnvironmentSpecSchema);
    },
    'environments.list': async (): Promise<EnvironmentVersion[]> =>
      (await store.records('environment')).map((record) => versionOf(record, EnvironmentSpecSchema)),
    'environments.show': async (reference: { id: string; version?: number }): Promise<EnvironmentVersion> =>
      versionOf(await findRecord(store, 'environment', reference), EnvironmentSpecSchema),
  };
}
