import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { messageOf } from '../domain/errors.ts';
import type { Issue } from '../domain/issue.ts';
import { fileTree } from '../domain/mapping/file-tree.ts';
import type { FileEntry, FileTree } from '../domain/task.ts';
import type { ReadTreeOptions, TaskFolder } from '../task-format.ts';
import { hashLarge, readSmall } from './read-file.ts';

type Kind = 'file' | 'directory' | 'link' | 'other';
type Read = { tree: FileTree; issues: Issue[]; texts: ReadonlyMap<string, string> };

/**
 * A task folder on this host. Reads are synchronous, which for many small files is the fastest there is; a large file gives the event loop a turn
 * after each chunk. Nothing outside the folder is read, and no link is followed unless it is to be materialized.
 */
export class HostTaskFolder implements TaskFolder {
  readonly root: string;
  readonly name: string;
  /** What lies directly in the folder, as its discovery saw it. */
  #entries: readonly Dirent[];

  constructor(root: string, entries: readonly Dirent[] = readdirSync(root, { withFileTypes: true })) {
    this.root = root;
    this.name = basename(root);
    this.#entries = entries;
  }

  async kindOf(path: string): Promise<Kind | null> {
    return this.#kindOf(path);
  }

  async readText(
    path: string,
    options: { materializeLinks: boolean } = { materializeLinks: false },
  ): Promise<{ text: string } | { issue: Issue } | null> {
    const host = `${this.root}/${path}`;
    const kind = this.#kindOf(path);
    if (kind === null) return null;
    const target = kind === 'link' ? this.#followed(host, path, options.materializeLinks) : host;
    if (typeof target !== 'string') return target;
    try {
      const found = kind === 'other' ? { kind: 'no_file' as const, stats: lstatSync(target) } : readSmall(target);
      if (found.kind === 'no_file') return { issue: wrongKind(path, 'a regular file', found.stats) };
      if (found.kind === 'large') return { issue: fileIssue(path, 'the file is too large', 'at most 1 MiB', `${found.stats.size} bytes`) };
      return isUtf8(found.bytes)
        ? { text: found.bytes.toString('utf8') }
        : { issue: fileIssue(path, 'the file is not text', 'valid UTF-8', 'other bytes') };
    } catch (error) {
      return { issue: unreadable(path, error) };
    }
  }

  async readTree(path: string, options: ReadTreeOptions): Promise<Read | null> {
    const host = `${this.root}/${path}`;
    const kind = this.#kindOf(path);
    if (kind === null) return null;
    const walk: Walk = { files: [], issues: [], texts: new Map(), options, open: [], large: [] };
    if (kind === 'link') this.#link({ host, shown: path, path: '' }, walk);
    else if (kind === 'directory') this.#directory({ host, shown: path, path: '' }, walk);
    else walk.issues.push(wrongKind(path, 'a directory', lstatSync(host)));
    for (const place of walk.large) await addLarge(place, walk);
    return { tree: fileTree(host, walk.files, sha256), issues: walk.issues, texts: walk.texts };
  }

  #kindOf(path: string): Kind | null {
    const slash = path.indexOf('/');
    const first = this.#entries.find((entry) => entry.name === (slash === -1 ? path : path.slice(0, slash)));
    if (first === undefined) return null;
    if (slash === -1) return kindOfEntry(first);
    try {
      const stats = lstatSync(join(this.root, path), { throwIfNoEntry: false });
      return stats === undefined ? null : kindOfEntry(stats);
    } catch {
      return null;
    }
  }

  #directory(place: Place, walk: Walk): void {
    let entries: Dirent[];
    try {
      entries = readdirSync(place.host, { withFileTypes: true });
      if (walk.options.materializeLinks) walk.open.push(realpathSync(place.host));
    } catch (error) {
      walk.issues.push(unreadable(place.shown, error));
      return;
    }
    for (const entry of entries) {
      const { name } = entry;
      const inner = {
        host: `${place.host}/${name}`,
        shown: `${place.shown}/${name}`,
        path: place.path === '' ? name : `${place.path}/${name}`,
      };
      if (entry.isDirectory()) this.#directory(inner, walk);
      else if (entry.isSymbolicLink()) this.#link(inner, walk);
      else addFile(inner, entry.isFile(), walk);
    }
    if (walk.options.materializeLinks) walk.open.pop();
  }

  #link(place: Place, walk: Walk): void {
    const target = this.#followed(place.host, place.shown, walk.options.materializeLinks);
    if (typeof target !== 'string') {
      walk.issues.push(target.issue);
      return;
    }
    const stats = statSync(target);
    if (!stats.isDirectory()) addFile({ ...place, host: target }, stats.isFile(), walk);
    else if (walk.open.includes(target)) {
      walk.issues.push(fileIssue(place.shown, 'this link leads back to a directory above it', 'a link that ends', 'a cycle'));
    } else this.#directory({ ...place, host: target }, walk);
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
}

/** One path: on this host, as the task names it, and below the tree that is read. */
type Place = { host: string; shown: string; path: string };

type Walk = {
  files: FileEntry[];
  issues: Issue[];
  texts: Map<string, string>;
  options: ReadTreeOptions;
  /** Real paths of the directories being walked, kept where a link could lead back. */
  open: string[];
  large: Place[];
};

function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

function addFile(place: Place, isFile: boolean, walk: Walk): void {
  try {
    const found = isFile ? readSmall(place.host) : { kind: 'no_file' as const, stats: lstatSync(place.host) };
    if (found.kind === 'no_file') walk.issues.push(wrongKind(place.shown, 'a regular file', found.stats));
    else if (found.kind === 'large') walk.large.push(place);
    else {
      const { bytes, mode } = found;
      const isText = walk.options.sizeOnly === true || isUtf8(bytes);
      walk.files.push({ path: place.path, bytes: bytes.length, sha256: sha256(bytes), mode, asset: !isText });
      if (isText && walk.options.texts?.includes(basename(place.path))) walk.texts.set(place.path, bytes.toString('utf8'));
    }
  } catch (error) {
    walk.issues.push(unreadable(place.shown, error));
  }
}

async function addLarge(place: Place, walk: Walk): Promise<void> {
  try {
    walk.files.push({ path: place.path, ...(await hashLarge(place.host)), asset: walk.options.sizeOnly !== true });
  } catch (error) {
    walk.issues.push(unreadable(place.shown, error));
  }
}

function kindOfEntry(entry: Pick<Dirent, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): Kind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

function fileIssue(file: string, message: string, expected: string, found: string): Issue {
  return { severity: 'error', path: '', message, expected, found, place: { file, line: null, column: null } };
}

function unreadable(file: string, error: unknown): Issue {
  // A name that is no UTF-8 reads with replacement characters, and nothing is found under that.
  if (file.includes('\ufffd') && error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return fileIssue(file, 'the name of this file is not text', 'a name in valid UTF-8', 'other bytes, shown as \ufffd');
  return fileIssue(file, 'this cannot be read', 'a readable file', messageOf(error));
}

function wrongKind(file: string, expected: string, stats: Stats): Issue {
  const kinds: [boolean, string][] = [
    [stats.isDirectory(), 'a directory'],
    [stats.isFIFO(), 'a FIFO'],
    [stats.isSocket(), 'a socket'],
    [stats.isFile(), 'a file'],
    [stats.isSymbolicLink(), 'a symbolic link'],
  ];
  const found = kinds.find(([isThis]) => isThis)?.[1] ?? 'a device';
  return fileIssue(file, 'the wrong kind of file', expected, found);
}
