import { createWriteStream } from 'node:fs';
import { chmod, link, lstat, mkdir, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join, posix, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../domain/errors.ts';
import { walkEntries } from '../../system/tar.ts';

/** Extracts below `directory`, which lies in `root`. Nothing is ever written outside `root`: a link on the way that leads out is replaced. */
export async function extractBelow(root: string, tar: AsyncIterable<Uint8Array> | Uint8Array, directory: string): Promise<void> {
  const base = await realBelow(root, directory);
  if (base === null || !(await lstat(base)).isDirectory())
    throw new AppError('internal', `upload to ${directory} failed: no such directory`);
  const modes: [string, number][] = [];
  for await (const { entry, bytes } of walkEntries(tar)) {
    const parts = posix
      .normalize(`/${entry.path}`)
      .split('/')
      .filter((part) => part !== '');
    const name = parts.pop();
    if (name === undefined) continue;
    const target = join(await directoryBelow(root, base, parts), name);
    const there = await lstat(target).catch(() => null);
    if (there !== null && !(there.isDirectory() && entry.type === 'directory')) await rm(target, { recursive: true, force: true });
    if (entry.type === 'directory') {
      await mkdir(target, { recursive: true });
      modes.push([target, entry.mode]);
    } else if (entry.type === 'file') {
      await pipeline(bytes, createWriteStream(target, { flags: 'wx' }));
      await chmod(target, entry.mode);
    } else if (entry.type === 'symlink') {
      await symlink(entry.link ?? '', target);
    } else if (entry.type === 'hardlink') {
      const source = await realBelow(root, join(base, posix.normalize(`/${entry.link ?? ''}`)));
      if (source !== null) await link(source, target);
    }
  }
  // Last, for a directory may be closed to its own files. One that was replaced by a later entry is gone.
  for (const [path, mode] of modes.reverse()) if ((await lstat(path).catch(() => null))?.isDirectory() === true) await chmod(path, mode);
}

/** The real path of `path` where that lies in `root` (itself a real path); null = there is none, or it leads out. */
export async function realBelow(root: string, path: string): Promise<string | null> {
  const real = await realpath(path).catch(() => null);
  return real !== null && isBelow(root, real) ? real : null;
}

export function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}

async function directoryBelow(root: string, base: string, parts: readonly string[]): Promise<string> {
  let at = base;
  for (const part of parts) {
    const next = join(at, part);
    const real = await realBelow(root, next);
    if (real !== null && (await lstat(real)).isDirectory()) {
      at = real;
      continue;
    }
    await rm(next, { recursive: true, force: true });
    await mkdir(next);
    at = next;
  }
  return at;
}

/** Parent's real path and the last name, where the parent lies in `root`; null = no such place, or outside. */
export async function placeBelow(root: string, path: string): Promise<string | null> {
  if (path === root) return root;
  const parent = await realBelow(root, dirname(path));
  return parent === null ? null : join(parent, posix.basename(path));
}
