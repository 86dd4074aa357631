import { createHash, randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, open, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import type { KeepOptions, KeptFile } from '../domain/agent-version.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { AppError } from '../domain/errors.ts';

/** Where the files with this digest are, below a store's home. */
export function keptFilesFolder(home: string, digest: string): string {
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new AppError('corrupt', `expected the digest of kept files, found ${JSON.stringify(digest)}`);
  return path.join(home, 'agents', digest);
}

/**
 * Keeps a copy of `files` under their digest (paths, modes and content) and gives that digest. The folder appears whole or not at all; the same
 * files kept twice, also by two processes at once, are one folder, and a damaged copy is replaced.
 */
export async function keepFiles(home: string, files: readonly KeptFile[], options: KeepOptions = {}): Promise<string> {
  const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
  for (const file of sorted) refuseOutside(file.path);
  const digest = sha256(canonicalJson(sorted.map((file) => ({ path: file.path, mode: file.mode, sha256: sha256(file.content) }))));
  const folder = keptFilesFolder(home, digest);
  const modules = options.nodeModules ?? null;
  if (!(await isWhole(folder, sorted, modules))) await replace(folder, sorted, modules);
  return digest;
}

async function isWhole(folder: string, files: readonly KeptFile[], nodeModules: string | null): Promise<boolean> {
  if ((await lstat(folder).catch(() => null)) === null) return false;
  if ((await readlink(path.join(folder, 'node_modules')).catch(() => null)) !== nodeModules) return false;
  for (const file of files) {
    const place = path.join(folder, file.path);
    const found = await lstat(place).catch(() => null);
    if (found === null || !found.isFile() || (found.mode & 0o777) !== file.mode) return false;
    if (!(await readFile(place)).equals(file.content)) return false;
  }
  return true;
}

async function replace(folder: string, files: readonly KeptFile[], nodeModules: string | null): Promise<void> {
  const scratch = `${folder}.${process.pid}.${randomBytes(6).toString('hex')}`;
  await mkdir(scratch, { recursive: true });
  try {
    for (const file of files) await write(path.join(scratch, file.path), file);
    if (nodeModules !== null) await symlink(nodeModules, path.join(scratch, 'node_modules'));
    while (!(await moved(scratch, folder, 'taken'))) {
      // Another process was first, or what is there is damaged.
      if (await isWhole(folder, files, nodeModules)) break;
      const damaged = `${scratch}.damaged`;
      if (await moved(folder, damaged, 'gone')) await rm(damaged, { recursive: true, force: true });
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function write(place: string, file: KeptFile): Promise<void> {
  await mkdir(path.dirname(place), { recursive: true });
  const handle = await open(place, 'wx');
  try {
    await handle.writeFile(file.content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  // After the writing, and not by open(): the umask must not change a mode that the digest covers.
  await chmod(place, file.mode);
}

/** False when the one thing that may stand in the way does: the target is taken, or another process has moved the source. */
async function moved(from: string, to: string, unless: 'taken' | 'gone'): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (unless === 'taken' ? code === 'ENOTEMPTY' || code === 'EEXIST' : code === 'ENOENT') return false;
    throw error;
  }
}

function refuseOutside(relative: string): void {
  if (
    relative === '' ||
    path.posix.isAbsolute(relative) ||
    path.posix.normalize(relative) !== relative ||
    relative.split('/').includes('..')
  ) {
    throw new AppError('invalid_configuration', `expected a relative path inside the agent's folder, found ${JSON.stringify(relative)}`);
  }
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
