import type { FileTree } from '../domain/task.ts';
import type { TarEntry } from '../system/tar.ts';

export const VERDICT_DIRECTORY = '/logs/verifier';

/**
 * Entries that make a directory new and empty with the sandbox's means alone: a file in its place removes it with all it held, links included,
 * then a directory replaces the file.
 */
export function emptied(path: string, mode: number): TarEntry[] {
  const name = path.replace(/^\/+/, '');
  return [
    { path: name, type: 'file', mode: 0o600, content: '' },
    { path: name, type: 'directory', mode },
  ];
}

/** A file tree below `target`, its directories included. */
export function treeEntries(tree: FileTree, target: string, content: (path: string) => Uint8Array): TarEntry[] {
  const base = target.replace(/^\/+/, '');
  const directories = new Set<string>();
  for (const file of tree.files) {
    const parts = file.path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) directories.add(parts.slice(0, depth).join('/'));
  }
  return [
    ...[...directories].sort().map((path): TarEntry => ({ path: `${base}/${path}`, type: 'directory', mode: 0o755 })),
    ...tree.files.map((file): TarEntry => ({ path: `${base}/${file.path}`, type: 'file', mode: file.mode, content: content(file.path) })),
  ];
}
