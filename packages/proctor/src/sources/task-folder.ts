import { isUtf8 } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, join, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../domain/errors.ts';
import type { Issue } from '../domain/issue.ts';
import { fileTree } from '../domain/mapping/file-tree.ts';
import type { FileEntry, FileTree } from '../domain/task.ts';
import type { TaskFolder } from '../task-format.ts';

/** A file that must be text holds at most this much. */
const MAX_TEXT_BYTES = 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/**
 * A task folder on this host. Reads are synchronous, which for many small files is the fastest there is; a large file gives the event loop a turn
 * after each chunk. Nothing outside the folder is read, and no link is followed unless it is to be materialized.
 */
export class HostTaskFolder implements TaskFolder {
  readonly root: string;
  readonly name: string;

  constructor(root: string) {
    this.root = root;
    this.name = basename(root);
  }

  async kindOf(path: string): Promise<'file' | 'directory' | 'link' | 'other' | null> {
    const stats = lstatOrNull(join(this.root, path));
    if (stats === null) return null;
    if (stats.isFile()) return 'file';
    if (stats.isDirectory()) return 'directory';
    return stats.isSymbolicLink() ? 'link' : 'other';
  }

  async readText(
    path: string,
    options: { materializeLinks: boolean } = { materializeLinks: false },
  ): Promise<{ text: string } | { issue: Issue } | null> {
    const host = join(this.root, path);
    const stats = lstatOrNull(host);
    if (stats === null) return null;
    const target = stats.isSymbolicLink() ? this.#followed(host, path, options.materializeLinks) : host;
    if (typeof target !== 'string') return target;
    const kind = target === host ? stats : statSync(target);
    if (!kind.isFile()) return { issue: wrongKind(path, 'a regular file', kind) };
    if (kind.size > MAX_TEXT_BYTES) return { issue: fileIssue(path, 'the file is too large', 'at most 1 MiB', `${kind.size} bytes`) };
    try {
      const bytes = readWhole(target, kind.size);
      return isUtf8(bytes)
        ? { text: DECODER.decode(bytes) }
        : { issue: fileIssue(path, 'the file is not text', 'valid UTF-8', 'other bytes') };
    } catch (error) {
      return { issue: unreadable(path, error) };
    }
  }

  async readTree(
    path: string,
    options: { materializeLinks: boolean; sizeOnly?: boolean },
  ): Promise<{ tree: FileTree; issues: Issue[] } | null> {
    const host = join(this.root, path);
    const stats = lstatOrNull(host);
    if (stats === null) return null;
    const walk: Walk = { files: [], issues: [], options, open: [] };
    if (stats.isSymbolicLink()) await this.#link(host, path, '', walk);
    else if (stats.isDirectory()) await this.#directory(host, path, '', walk);
    else walk.issues.push(wrongKind(path, 'a directory', stats));
    return { tree: fileTree(host, walk.files, (content) => hash('sha256', content, 'hex')), issues: walk.issues };
  }

  async #directory(host: string, shown: string, inTree: string, walk: Walk): Promise<void> {
    let entries: Dirent[];
    try {
      entries = readdirSync(host, { withFileTypes: true });
    } catch (error) {
      walk.issues.push(unreadable(shown, error));
      return;
    }
    if (walk.options.materializeLinks) walk.open.push(realpathSync(host));
    for (const entry of entries) {
      const path = join(host, entry.name);
      const names = [`${shown}/${entry.name}`, inTree === '' ? entry.name : `${inTree}/${entry.name}`] as const;
      if (entry.isDirectory()) await this.#directory(path, ...names, walk);
      else if (entry.isSymbolicLink()) await this.#link(path, ...names, walk);
      else await this.#file(path, ...names, walk);
    }
    if (walk.options.materializeLinks) walk.open.pop();
  }

  async #link(host: string, shown: string, inTree: string, walk: Walk): Promise<void> {
    const target = this.#followed(host, shown, walk.options.materializeLinks);
    if (typeof target !== 'string') {
      walk.issues.push(target.issue);
      return;
    }
    if (!statSync(target).isDirectory()) return this.#file(target, shown, inTree, walk);
    if (walk.open.includes(target)) {
      walk.issues.push(fileIssue(shown, 'this link leads back to a directory above it', 'a link that ends', 'a cycle'));
      return;
    }
    await this.#directory(target, shown, inTree, walk);
  }

  /** The real path of a link that may be materialized. */
  #followed(host: string, shown: string, materialize: boolean): string | { issue: Issue } {
    if (!materialize) {
      return {
        issue: {
          ...fileIssue(shown, 'links are refused', 'a regular file', 'a symbolic link'),
          hint: 'Copy the file, or pass --materialize-links',
        },
      };
    }
    try {
      const target = realpathSync(host);
      const root = realpathSync(this.root);
      if (target.startsWith(root + sep)) return target;
      return { issue: fileIssue(shown, 'this link leaves the task', 'a target inside the task folder', 'one outside') };
    } catch (error) {
      return { issue: unreadable(shown, error) };
    }
  }

  async #file(host: string, shown: string, path: string, walk: Walk): Promise<void> {
    const entry = await hashFile(host, path, walk.options.sizeOnly === true).catch((error: unknown) => unreadable(shown, error));
    if ('severity' in entry) walk.issues.push(entry);
    else if ('stats' in entry) walk.issues.push(wrongKind(shown, 'a regular file', entry.stats));
    else walk.files.push(entry);
  }
}

type Walk = {
  files: FileEntry[];
  issues: Issue[];
  options: { materializeLinks: boolean; sizeOnly?: boolean };
  /** Real paths of the directories being walked, kept where a link could lead back. */
  open: string[];
};

/** Keeps a byte order mark: text is what the file holds. */
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

async function hashFile(host: string, path: string, sizeOnly: boolean): Promise<FileEntry | { stats: Stats }> {
  // Without O_NONBLOCK a FIFO would be waited for; O_NOFOLLOW refuses a link that took the file's place.
  const handle = openSync(host, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) return { stats };
    const mode = stats.mode & 0o7777;
    if (stats.size > MAX_TEXT_BYTES) return { path, ...(await hashChunks(handle)), mode, asset: !sizeOnly };
    const bytes = readHandle(handle, stats.size);
    return { path, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex'), mode, asset: !sizeOnly && !isUtf8(bytes) };
  } finally {
    closeSync(handle);
  }
}

async function hashChunks(handle: number): Promise<{ bytes: number; sha256: string }> {
  const digest = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let total = 0;
  for (let read = readSync(handle, chunk); read > 0; read = readSync(handle, chunk)) {
    digest.update(chunk.subarray(0, read));
    total += read;
    await nextTurn();
  }
  return { bytes: total, sha256: digest.digest('hex') };
}

function readWhole(host: string, size: number): Uint8Array {
  const handle = openSync(host, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return readHandle(handle, size);
  } finally {
    closeSync(handle);
  }
}

/** Up to `size` bytes: a file that grows while it is read is cut at the size it had. */
function readHandle(handle: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const read = readSync(handle, bytes, filled, size - filled, null);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function fileIssue(file: string, message: string, expected: string, found: string): Issue {
  return { severity: 'error', path: '', message, expected, found, place: { file, line: null, column: null } };
}

function unreadable(file: string, error: unknown): Issue {
  return fileIssue(file, 'this cannot be read', 'a readable file', messageOf(error));
}

function wrongKind(file: string, expected: string, stats: Stats): Issue {
  const found = stats.isDirectory()
    ? 'a directory'
    : stats.isFIFO()
      ? 'a FIFO'
      : stats.isSocket()
        ? 'a socket'
        : stats.isFile()
          ? 'a file'
          : stats.isSymbolicLink()
            ? 'a symbolic link'
            : 'a device';
  return fileIssue(file, `expected ${expected}`, expected, found);
}
