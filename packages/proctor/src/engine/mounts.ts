import { posix } from 'node:path';
import { AppError } from '../domain/errors.ts';
import type { Store } from '../store.ts';
import { writeOnce } from '../system/write-once.ts';

const TAKEN = ['/', '/tests', '/solution', '/logs', '/proc', '/sys', '/dev', '/etc', '/usr', '/bin', '/lib', '/sbin'];

export type Mount = { path: string; sha256: string };

/** Refuses a mount that is relative, climbs, hides a place of ours or the system's, or names a blob that is not kept. */
export async function checkMounts(store: Store, mounts: readonly Mount[]): Promise<void> {
  const seen = new Set<string>();
  for (const { path, sha256 } of mounts) {
    const climbs = path.split('/').includes('..');
    if (!path.startsWith('/') || climbs || posix.normalize(path) !== path)
      throw new AppError('invalid_configuration', `mount ${JSON.stringify(path)}: expected an absolute, plain sandbox path`);
    if (TAKEN.includes(path) || path.startsWith('/tests/') || path.startsWith('/logs/'))
      throw new AppError('invalid_configuration', `mount ${path}: this place is taken; choose one such as /data/${posix.basename(path)}`);
    if (seen.has(path)) throw new AppError('invalid_configuration', `mount ${path} is given twice`);
    seen.add(path);
    if ((await store.blob(sha256)) === null) throw new AppError('not_found', `mount ${path}: no kept blob ${sha256}`);
  }
}

/** The blobs as host files that a sandbox can mount read-only, in `directory`. */
export async function materializeMounts(
  store: Store,
  mounts: readonly Mount[],
  directory: string,
): Promise<{ path: string; source: string; readOnly: true }[]> {
  const made = [];
  for (const { path, sha256 } of mounts) {
    const content = await store.blob(sha256);
    if (content === null) throw new AppError('not_found', `mount ${path}: the blob ${sha256} is no longer kept`);
    made.push({ path, source: await writeOnce(directory, sha256, content), readOnly: true as const });
  }
  return made;
}
