import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract, type Header, type Pack, pack } from 'tar-stream';

/** What goes into an archive: bytes at hand, a host file read as it is packed, a directory, or a symbolic link. */
export type TarEntry =
  | { path: string; type: 'file'; mode?: number; content: Uint8Array | string }
  | { path: string; type: 'file'; mode?: number; file: string; bytes: number }
  | { path: string; type: 'directory'; mode?: number }
  | { path: string; type: 'symlink'; link: string };

export type ReadEntry = {
  /** As the archive has it, without a trailing slash. */
  path: string;
  type: 'file' | 'directory' | 'symlink' | 'hardlink' | 'other';
  mode: number;
  size: number;
  /** Milliseconds since the epoch. */
  mtimeMs: number | null;
  /** Target of a link. */
  link: string | null;
  /** Null for what is no file, and for a file over `maxFileBytes`. */
  content: Uint8Array | null;
};

/** A tar made as it is read, so that its size in memory is bounded. A file that shrank or grew meanwhile is an error, never a broken archive. */
export async function* packEntries(entries: Iterable<TarEntry> | AsyncIterable<TarEntry>): AsyncGenerator<Uint8Array, void, undefined> {
  const tar = pack();
  const filled = fill(tar, entries).catch((error) => tar.destroy(error instanceof Error ? error : new Error(String(error))));
  try {
    for await (const chunk of tar) if (chunk instanceof Uint8Array) yield chunk;
  } finally {
    tar.destroy();
    await filled;
  }
}

/** The regular files of a tree below `root`, as a tar of their relative paths. */
export function packTree(tree: {
  root: string;
  files: readonly { path: string; bytes: number; mode: number }[];
}): AsyncGenerator<Uint8Array, void, undefined> {
  return packEntries(
    tree.files.map(
      (file): TarEntry => ({ path: file.path, type: 'file', file: join(tree.root, file.path), bytes: file.bytes, mode: file.mode }),
    ),
  );
}

/**
 * Reads an archive that nobody vouches for: at most `maxFiles` entries, content of files up to `maxFileBytes` each. Throws on a broken one.
 * A caller that must know whether there were more asks for one more than it takes.
 */
export async function readEntries(
  tar: AsyncIterable<Uint8Array> | Uint8Array,
  bounds: { maxFileBytes: number; maxFiles: number },
): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = [];
  if (bounds.maxFiles < 1) return entries;
  for await (const { entry, bytes } of walkEntries(tar)) {
    const wanted = entry.type === 'file' && entry.size <= bounds.maxFileBytes;
    entries.push({ ...entry, content: wanted ? await collect(bytes) : null });
    if (entries.length >= bounds.maxFiles) break;
  }
  return entries;
}

/** One entry after the other, each with its bytes as they come; what is not read of them is skipped. Throws on a broken archive. */
export async function* walkEntries(
  tar: AsyncIterable<Uint8Array> | Uint8Array,
): AsyncGenerator<{ entry: Omit<ReadEntry, 'content'>; bytes: AsyncIterable<Uint8Array> }, void, undefined> {
  const reader = extract();
  const feeding = pipeline(tar instanceof Uint8Array ? [tar] : tar, reader).catch((error) => reader.destroy(error));
  try {
    for await (const source of reader) {
      yield { entry: described(source.header), bytes: bytesOf(source) };
      source.resume();
    }
  } finally {
    reader.destroy();
    await feeding;
  }
}

/** One archive's bytes at once, for what is known to be small. */
export async function collect(tar: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* bytesOf(source: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of source) if (chunk instanceof Uint8Array) yield chunk;
}

async function fill(tar: Pack, entries: Iterable<TarEntry> | AsyncIterable<TarEntry>): Promise<void> {
  for await (const entry of entries) {
    if (entry.type === 'directory') await added(tar, { name: entry.path, mode: entry.mode ?? 0o755, type: 'directory', mtime: PACKED_AT });
    else if (entry.type === 'symlink') await added(tar, { name: entry.path, type: 'symlink', linkname: entry.link, mtime: PACKED_AT });
    else if ('content' in entry)
      await added(tar, { name: entry.path, mode: entry.mode ?? 0o644, mtime: PACKED_AT }, Buffer.from(entry.content));
    else await streamed(tar, entry);
  }
  tar.finalize();
}

/** Archives of the same content have the same bytes. Not the epoch: zip knows no time before 1980. */
const PACKED_AT = new Date(Date.UTC(2020, 0, 1));

function added(tar: Pack, header: Partial<Header> & { name: string }, content?: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    tar.entry(header, content ?? '', (error) => (error ? reject(error) : resolve()));
  });
}

async function streamed(tar: Pack, entry: { path: string; file: string; bytes: number; mode?: number }): Promise<void> {
  const sink = tar.entry({ name: entry.path, mode: entry.mode ?? 0o644, size: entry.bytes, mtime: PACKED_AT });
  await pipeline(createReadStream(entry.file), sink);
}

function typeOf(header: Header): ReadEntry['type'] {
  if (header.type === 'file' || header.type === 'contiguous-file') return 'file';
  if (header.type === 'directory' || header.type === 'symlink') return header.type;
  return header.type === 'link' ? 'hardlink' : 'other';
}

function described(header: Header): Omit<ReadEntry, 'content'> {
  return {
    path: header.name.replace(/\/+$/, ''),
    type: typeOf(header),
    mode: (header.mode ?? 0) & 0o7777,
    size: header.size ?? 0,
    mtimeMs: header.mtime?.getTime() ?? null,
    link: header.linkname ?? null,
  };
}
