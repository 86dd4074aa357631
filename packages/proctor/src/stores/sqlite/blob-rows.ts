import { existsSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { blobFile, blobFolder, TEMPORARY } from './blob-places.ts';
import { bytesOrNull, integer, text } from './columns.ts';
import type { CollectOptions, Requests } from './requests.ts';

/** Under a bound on bytes nothing younger is taken: whoever put it may be about to name it. */
const GRACE_MS = 3_600_000;
const ABANDONED_MS = 86_400_000;

type Garbage = { sha256: string; bytes: number; putAt: number; inFile: boolean };

export function blobRequests(database: DatabaseSync, home: string): Pick<Requests, 'putBlob' | 'blob' | 'collectBlobs'> {
  const put = database.prepare(
    'INSERT INTO blobs (sha256, bytes, put_at, content) VALUES (?, ?, ?, ?) ON CONFLICT (sha256) DO UPDATE SET put_at = max(put_at, excluded.put_at)',
  );
  const one = database.prepare('SELECT bytes, content FROM blobs WHERE sha256 = ?');
  const remove = database.prepare('DELETE FROM blobs WHERE sha256 = ?');
  return {
    putBlob(sha256, bytes, putAt, content) {
      put.run(sha256, bytes, putAt, content);
      return null;
    },
    blob(sha256) {
      const row = one.get(sha256);
      return row === undefined ? null : { bytes: integer(row.bytes), content: bytesOrNull(row.content) };
    },
    /** A file goes inside the transaction that takes its row, so that a process that puts the same blob again waits for it. */
    collectBlobs(options) {
      const taken = choose(garbage(database), options);
      const strays = strayFiles(database, home, options);
      if (!options.dryRun) {
        for (const { sha256, inFile } of taken) {
          remove.run(sha256);
          if (inFile) removeFile(blobFile(home, sha256));
        }
        for (const stray of strays) removeFile(stray.file);
      }
      const bytes = [...taken, ...strays].reduce((sum, one) => sum + one.bytes, 0);
      return { blobs: taken.length + strays.length, bytes };
    },
  };
}

/** Blobs that no Session and no record names, oldest first; none younger than an open Session, which may be about to name it. */
function garbage(database: DatabaseSync): Garbage[] {
  const open = database.prepare(`SELECT min(created_at) AS since FROM sessions WHERE owner IS NOT NULL AND status <> 'closed'`).get();
  const since = typeof open?.since === 'string' ? Date.parse(open.since) : Number.POSITIVE_INFINITY;
  const named = recordedDigests(database);
  const rows = database
    .prepare(
      'SELECT sha256, bytes, put_at, content IS NULL AS in_file FROM blobs WHERE sha256 NOT IN (SELECT sha256 FROM blob_refs) ORDER BY put_at, sha256',
    )
    .all();
  return rows
    .map((row) => ({ sha256: text(row.sha256), bytes: integer(row.bytes), putAt: integer(row.put_at), inFile: row.in_file === 1 }))
    .filter((one) => !named.has(one.sha256) && !(one.putAt >= since));
}

function recordedDigests(database: DatabaseSync): Set<string> {
  const found = new Set<string>();
  for (const row of database.prepare('SELECT body FROM records').iterate()) {
    for (const [digest] of text(row.body).matchAll(/\b[0-9a-f]{64}\b/g)) found.add(digest);
  }
  return found;
}

/** `maxBytes` bounds what is left of them. */
function choose(unnamed: Garbage[], { now, olderThanMs, maxBytes }: CollectOptions): Garbage[] {
  const old = unnamed.filter((one) => one.putAt <= now - olderThanMs);
  if (maxBytes === null) return old;
  const rest = unnamed.filter((one) => one.putAt > now - olderThanMs);
  let left = rest.reduce((sum, one) => sum + one.bytes, 0);
  const beyond = rest.filter((one) => {
    if (left <= maxBytes || one.putAt > now - Math.min(GRACE_MS, olderThanMs)) return false;
    left -= one.bytes;
    return true;
  });
  return [...old, ...beyond];
}

/** Files without a row: left by a process that was killed. */
function strayFiles(database: DatabaseSync, home: string, { now, olderThanMs }: CollectOptions): { file: string; bytes: number }[] {
  const folder = blobFolder(home);
  if (!existsSync(folder)) return [];
  const known = database.prepare('SELECT 1 FROM blobs WHERE sha256 = ?');
  return readdirSync(folder).flatMap((name) => {
    if (!name.startsWith(TEMPORARY) && known.get(name) !== undefined) return [];
    const file = path.join(folder, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    return stat !== undefined && stat.mtimeMs <= now - Math.max(olderThanMs, ABANDONED_MS) ? [{ file, bytes: stat.size }] : [];
  });
}

function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
