import { execFile } from 'node:child_process';
import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { KeptFile } from '../domain/agent-version.ts';
import { AppError } from '../domain/errors.ts';

const maxFiles = 10_000;
const maxBytes = 256 * 1024 * 1024;

/** Every regular file below `root` but those that git ignores (outside a repository: node_modules). Links and devices are refused by path. */
export async function readFolder(root: string): Promise<KeptFile[]> {
  const paths = (await listedByGit(root)) ?? (await walk(root, ''));
  const files: KeptFile[] = [];
  let bytes = 0;
  for (const relative of paths.sort()) {
    const place = path.join(root, relative);
    const found = await lstat(place).catch(() => null);
    // In git's list and gone from the disk: deleted, not yet committed.
    if (found === null) continue;
    if (!found.isFile())
      throw new AppError(
        'invalid_configuration',
        `expected a regular file in the agent's folder, found ${kindOf(found)}: ${place}. Put a copy of its target there`,
      );
    bytes += found.size;
    if (files.length >= maxFiles || bytes > maxBytes) {
      throw new AppError(
        'invalid_configuration',
        `the agent's folder ${root} holds more than ${maxFiles} files or ${maxBytes / 1024 / 1024} MiB: give the agent a folder of its own (a module: with its own package.json)`,
      );
    }
    files.push({ path: relative, mode: found.mode & 0o777, content: await readFile(place) });
  }
  return files;
}

async function listedByGit(root: string): Promise<string[] | null> {
  try {
    const git = [
      '-c',
      'core.fsmonitor=false',
      '-c',
      'core.quotePath=false',
      'ls-files',
      '-z',
      '--cached',
      '--others',
      '--exclude-standard',
    ];
    const { stdout } = await promisify(execFile)('git', git, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
    return [...new Set(stdout.split('\0').filter((item) => item !== ''))];
  } catch {
    // No git here, or no repository: nothing is git-ignored.
    return null;
  }
}

async function walk(root: string, below: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(path.join(root, below), { withFileTypes: true })) {
    const relative = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && entry.name !== '.git') found.push(...(await walk(root, relative)));
    } else found.push(relative);
    if (found.length > maxFiles) return found;
  }
  return found;
}

function kindOf(found: { isSymbolicLink(): boolean; isDirectory(): boolean }): string {
  return found.isSymbolicLink() ? 'a link' : found.isDirectory() ? 'a nested repository' : 'a device, pipe or socket';
}
