import type { ExperimentListing, ParsedInput } from '../api/operations.ts';
import { ExperimentSettingsSchema } from '../api/operations.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { AppError } from '../domain/errors.ts';
import type { OperationParts } from './parts.ts';

export function experimentOperations({ store, engine }: OperationParts) {
  return {
    'experiments.put': async ({ name, settings }: ParsedInput<'experiments.put'>): Promise<{ name: string }> => {
      await store.putRecord({
        noun: 'experiment',
        idPrefix: 'exp',
        name,
        digest: engine.hash(canonicalJson(settings)),
        body: settings,
        createdAt: engine.clock.now().toISOString(),
      });
      return { name };
    },
    'experiments.list': async (): Promise<ExperimentListing[]> => {
      const listings = new Map<string, ExperimentListing>();
      for (const record of await store.records('experiment')) {
        const settings = ExperimentSettingsSchema.safeParse(record.body);
        listings.set(record.name, {
          name: record.name,
          created_at: listings.get(record.name)?.created_at ?? record.createdAt,
          last_at: null,
          sessions: 0,
          settings: settings.success ? settings.data : null,
        });
      }
      for (const row of await store.sessions({})) {
        if (row.experiment === null) continue;
        const known = listings.get(row.experiment) ?? {
          name: row.experiment,
          created_at: row.createdAt,
          last_at: null,
          sessions: 0,
          settings: null,
        };
        const last = known.last_at === null || row.lastAt > known.last_at ? row.lastAt : known.last_at;
        listings.set(row.experiment, { ...known, sessions: known.sessions + 1, last_at: last });
      }
      return [...listings.values()].sort((left, right) =>
        (left.last_at ?? left.created_at) < (right.last_at ?? right.created_at) ? 1 : -1,
      );
    },
    'experiments.delete': async ({ name }: ParsedInput<'experiments.delete'>): Promise<{ sessions: number; events: number }> => {
      const rows = await store.sessions({ experiment: name });
      const records = (await store.records('experiment')).filter((record) => record.name === name);
      if (rows.length === 0 && records.length === 0)
        throw new AppError('not_found', `no experiment ${name}: list them with proctor experiments list`);
      const running = rows.find((row) => row.owner !== null && engine.ownerIsAlive(row.owner));
      if (running !== undefined) throw new AppError('conflict', `experiment ${name} is running (Session ${running.id}): stop it first`);
      const deleted = await store.deleteSessions({ experiment: name });
      for (const record of records) await store.deleteRecord('experiment', record.id);
      return deleted;
    },
  };
}
