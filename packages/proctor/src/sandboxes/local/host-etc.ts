import { execFile } from 'node:child_process';
import { lstat, realpath } from 'node:fs/promises';
import { promisify } from 'node:util';
import { HOST_DIRECTORIES } from './layout.ts';

/**
 * What of /etc only root may read. A sandbox made by root would read it too, for its root is the host's user who made it: passwords and keys
 * are hidden from it as they are from everyone else.
 */
export async function closedPlaces(): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const closed = ['(', '-type', 'f', '!', '-perm', '-004', ')', '-o', '(', '-type', 'd', '!', '-perm', '-005', ')'];
  const { stdout } = await promisify(execFile)('find', ['/etc', '(', ...closed, ')', '-print0', '-prune'], { maxBuffer: 2 ** 24 });
  return stdout.split('\0').filter((path) => path !== '');
}

/** Those that are still there, with their kind: a mount needs its place. */
export async function present(paths: readonly string[]): Promise<{ path: string; directory: boolean }[]> {
  const found = await Promise.all(paths.map(async (path) => ({ path, stat: await lstat(path).catch(() => null) })));
  return found.flatMap(({ path, stat }) => (stat === null || stat.isSymbolicLink() ? [] : [{ path, directory: stat.isDirectory() }]));
}

/** Where the host keeps its resolver's file outside of what is mounted, as systemd does, a sandbox with the host's network needs that file. */
export async function resolverMount(): Promise<{ path: string; source: string }[]> {
  const real = await realpath('/etc/resolv.conf').catch(() => null);
  if (real === null || HOST_DIRECTORIES.some((directory) => real.startsWith(`${directory}/`))) return [];
  return [{ path: real, source: real }];
}
