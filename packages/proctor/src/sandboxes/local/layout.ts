import { chmodSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Of the host, read-only. Mounted, never linked, for a link could be replaced from inside. */
export const HOST_DIRECTORIES = ['/usr', '/etc', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Made anew by the kernel or by us in every sandbox. */
export const FRESH_MOUNTS = ['/proc', '/dev', '/sys'];

/** Modes matter: the verifier's and the agent's users write into the logs, and anyone into the temporary places. */
const WRITABLE: readonly (readonly [string, number])[] = [
  ['/app', 0o755],
  ['/tests', 0o755],
  ['/solution', 0o755],
  ['/logs', 0o755],
  ['/logs/agent', 0o777],
  ['/logs/verifier', 0o777],
  ['/logs/artifacts', 0o777],
  ['/tmp', 0o1777],
  ['/home', 0o755],
  ['/root', 0o700],
  ['/opt', 0o755],
  ['/srv', 0o755],
  ['/mnt', 0o755],
  ['/run', 0o755],
  ['/var/cache', 0o755],
  ['/var/lib', 0o755],
  ['/var/log', 0o755],
  ['/var/tmp', 0o1777],
];

/**
 * Everything writable of a new sandbox, in one host folder that becomes its root. Returns the host directories to be mounted over it. Some
 * forty calls of microseconds each: done at once they cost less than waiting for forty answers.
 */
export function makeRoot(root: string, workdir: string): string[] {
  mkdirSync(root, { mode: 0o755 });
  chmodSync(root, 0o755);
  makeWritable(root, workdir);
  symlinkSync('/run', join(root, 'var/run'));
  for (const path of FRESH_MOUNTS) mkdirSync(join(root, path));
  const mounted = HOST_DIRECTORIES.filter((path) => existsSync(path));
  for (const path of mounted) mkdirSync(join(root, path));
  return mounted;
}

/** The directories that every Task finds, below what stands for `/`. */
export function makeWritable(root: string, workdir: string): void {
  for (const [path, mode] of WRITABLE) {
    mkdirSync(join(root, path), { recursive: true });
    chmodSync(join(root, path), mode);
  }
  mkdirSync(join(root, workdir), { recursive: true });
}

/** Removes a sandbox's folder, unreadable directories included; links in it are removed, never followed. */
export async function removeFolder(folder: string, run: (file: string, args: string[]) => Promise<void>): Promise<void> {
  if ((await lstat(folder).catch(() => null)) === null) return;
  await run('rm', ['-rf', '--', folder]).catch(async () => {
    await run('chmod', ['-R', 'u+rwx', '--', folder]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });
}
