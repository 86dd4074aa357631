import type { Hash } from '../canonical-json.ts';
import type { FileEntry, FileTree } from '../task.ts';

/** A tree whose digest covers path, mode and content of every file. */
export function fileTree(root: string, entries: readonly FileEntry[], hash: Hash): FileTree {
  const files =
    entries.length < 2 ? [...entries] : [...entries].sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
  let lines = '';
  let bytes = 0;
  for (const file of files) {
    lines += `${file.path}\0${file.mode.toString(8)}\0${file.sha256}\n`;
    bytes += file.bytes;
  }
  return { root, digest: hash(lines), bytes, files };
}

export function findFile(tree: FileTree | null, path: string): FileEntry | null {
  return tree?.files.find((file) => file.path === path) ?? null;
}

/** The same tree with one file executable, as the format makes it before it runs. */
export function withExecutable(tree: FileTree, path: string, hash: Hash): FileTree {
  const file = findFile(tree, path);
  if (file === null || (file.mode & 0o111) === 0o111) return tree;
  const files = tree.files.map((entry) => (entry === file ? { ...entry, mode: entry.mode | 0o111 } : entry));
  return fileTree(tree.root, files, hash);
}
