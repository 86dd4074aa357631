import { Readable } from 'node:stream';
import { extract, pack } from 'tar-stream';

export type TarEntry = { path: string; type: 'file' | 'directory'; mode: number; uid?: number; gid?: number; content?: Uint8Array };

export type ReadEntry = {
  path: string;
  type: 'file' | 'directory' | 'link' | 'other';
  mode: number;
  size: number;
  mtimeMs: number | null;
  linkTarget: string | null;
  /** Null: no regular file, or larger than the reader's bound. */
  content: Uint8Array | null;
};

/** A tar of entries in their order; an entry may name a path again. */
export async function packEntries(entries: readonly TarEntry[]): Promise<Uint8Array> {
  const stream = pack();
  for (const entry of entries) {
    const header = { name: entry.path, mode: entry.mode, uid: entry.uid ?? 0, gid: entry.gid ?? 0, mtime: new Date() };
    if (entry.type === 'directory') stream.entry({ ...header, type: 'directory' });
    else stream.entry({ ...header, type: 'file' }, Buffer.from(entry.content ?? new Uint8Array()));
  }
  stream.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Reads a tar within bounds: content beyond `maxFileBytes` is passed over, entries beyond `maxFiles` are dropped. A truncated tar rejects. */
export async function readEntries(tar: AsyncIterable<Uint8Array> | Uint8Array, bounds: { maxFileBytes: number; maxFiles: number }): Promise<ReadEntry[]> {
  const stream = extract();
  const source = tar instanceof Uint8Array ? Readable.from([tar]) : Readable.from(tar, { objectMode: false });
  source.on('error', (error) => stream.destroy(error));
  source.pipe(stream);
  const found: ReadEntry[] = [];
  for await (const entry of stream) {
    const { name, type, mode, size, mtime, linkname } = entry.header;
    const isFile = type === 'file' || type === 'contiguous-file';
    const keeps = isFile && (size ?? 0) <= bounds.maxFileBytes && found.length < bounds.maxFiles;
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry) if (keeps) chunks.push(chunk);
    if (found.length >= bounds.maxFiles) continue;
    found.push({
      path: name.replace(/\/+$/, ''),
      type: isFile ? 'file' : type === 'directory' ? 'directory' : type === 'symlink' || type === 'link' ? 'link' : 'other',
      mode: mode ?? 0,
      size: size ?? 0,
      mtimeMs: mtime == null ? null : mtime.getTime(),
      linkTarget: linkname ?? null,
      content: keeps ? Buffer.concat(chunks) : null,
    });
  }
  return found;
}
