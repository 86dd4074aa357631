import { createReadStream, createWriteStream } from 'node:fs';
import { join, posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Change } from '../../sandbox.ts';
import { collect, walkEntries } from '../../system/tar.ts';
import { output, packTar, type ToolArgv } from './files.ts';

const MOST_PATHS = 50_000;
const MOST_KEPT_BYTES = 32 * 2 ** 20;

type Place = { kind: string; bytes: number; sign: string };

/** How a sandbox's files were before the agent began: their names and times, and the working directory's content where it is small. */
export class Before {
  readonly #tool: ToolArgv;
  readonly #left: readonly string[];
  readonly #folder: string;
  /** Null = there were too many to remember. */
  #places: Map<string, Place> | null;
  #archive: string | null = null;

  private constructor(tool: ToolArgv, left: readonly string[], folder: string, places: Map<string, Place> | null) {
    this.#tool = tool;
    this.#left = left;
    this.#folder = folder;
    this.#places = places;
  }

  /** `left` = paths that are the host's, not looked into. */
  static async take(tool: ToolArgv, left: readonly string[], folder: string, workdir: string): Promise<Before> {
    const places = await list(tool, left);
    const before = new Before(tool, left, folder, places);
    const prefix = `${posix.normalize(workdir).replace(/\/+$/, '')}/`;
    let bytes = 0;
    for (const [path, place] of places ?? []) if (path.startsWith(prefix)) bytes += place.bytes;
    if (places !== null && bytes > 0 && bytes <= MOST_KEPT_BYTES) await before.#keep(workdir);
    return before;
  }

  async changes(): Promise<Change[] | null> {
    if (this.#places === null) return null;
    const now = await list(this.#tool, this.#left);
    if (now === null) return null;
    const changes: Change[] = [];
    for (const [path, place] of now) {
      const then = this.#places.get(path);
      if (then === undefined) changes.push({ path, kind: 'added' });
      else if (then.kind !== place.kind || (place.kind !== 'd' && then.sign !== place.sign)) changes.push({ path, kind: 'modified' });
    }
    for (const path of this.#places.keys()) if (!now.has(path)) changes.push({ path, kind: 'deleted' });
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async original(path: string, maxBytes: number): Promise<Uint8Array | null> {
    if (this.#archive === null) return null;
    for await (const { entry, bytes } of walkEntries(createReadStream(this.#archive))) {
      if (`/${entry.path}` === path) return entry.type === 'file' && entry.size <= maxBytes ? await collect(bytes) : null;
    }
    return null;
  }

  async #keep(workdir: string): Promise<void> {
    // Named from the root, as `original` is asked.
    const tar = await packTar(this.#tool, workdir, '/');
    if (tar === null) return;
    const archive = join(this.#folder, 'before.tar');
    await pipeline(tar, createWriteStream(archive, { flags: 'wx', mode: 0o600 }));
    this.#archive = archive;
  }
}

async function list(tool: ToolArgv, left: readonly string[]): Promise<Map<string, Place> | null> {
  const skipped = left.flatMap((path, index) => [...(index === 0 ? [] : ['-o']), '-path', path]);
  const prune = skipped.length === 0 ? [] : ['(', ...skipped, ')', '-prune', '-o'];
  const { text } = await output(tool, ['find', '/', ...prune, '-printf', '%p\\0%y\\0%s\\0%i %C@\\0'], MOST_PATHS * 120);
  if (text === null) return null;
  const fields = text.split('\0');
  const places = new Map<string, Place>();
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const kind = fields[at + 1] ?? '';
    places.set(fields[at] ?? '', { kind, bytes: kind === 'f' ? Number(fields[at + 2]) : 0, sign: `${fields[at + 2]} ${fields[at + 3]}` });
  }
  places.delete('/');
  return places.size > MOST_PATHS ? null : places;
}
