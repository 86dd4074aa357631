import type { z } from 'zod';
import { AppError } from '../domain/errors.ts';
import type { Store, StoredRecord } from '../store.ts';

/** One stored version as its noun's type. Errors: corrupt when its body is not of that type. */
export function versionOf<S extends z.ZodType>(record: StoredRecord, spec: S) {
  const parsed = spec.safeParse(record.body);
  if (!parsed.success)
    throw new AppError(
      'corrupt',
      `the stored ${record.noun} ${record.id} version ${record.version} does not read as one: ${parsed.error.issues[0]?.message ?? ''}`,
    );
  return {
    id: record.id,
    version: record.version,
    name: record.name,
    digest: record.digest,
    spec: parsed.data,
    created_at: record.createdAt,
  };
}

/** A look-up that asks the store once for each named version, since none ever changes. */
export function rememberVersions<T>(find: (reference: string | { id: string; version?: number }) => Promise<T>): typeof find {
  const found = new Map<string, T>();
  return async (reference) => {
    if (typeof reference === 'string' || reference.version === undefined) return find(reference);
    const key = `${reference.id}@${reference.version}`;
    const known = found.get(key) ?? (await find(reference));
    found.set(key, known);
    return known;
  };
}

/** Errors: not_found. */
export async function findRecord(store: Store, noun: string, reference: string | { id: string; version?: number }): Promise<StoredRecord> {
  const { id, version } = typeof reference === 'string' ? { id: reference, version: undefined } : reference;
  const record = await store.record(noun, id, version);
  if (record === null)
    throw new AppError(
      'not_found',
      `no ${noun} ${id}${version === undefined ? '' : ` version ${version}`}: list them with proctor ${noun}s list`,
    );
  return record;
}
