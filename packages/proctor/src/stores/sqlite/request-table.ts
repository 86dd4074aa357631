import { statSync } from 'node:fs';
import { blobRequests } from './blob-rows.ts';
import { integer } from './columns.ts';
import type { Connection } from './connection.ts';
import { eventReads } from './event-rows.ts';
import { recordRequests } from './record-rows.ts';
import type { Reads, Writes } from './requests.ts';
import { sessionLists } from './session-lists.ts';
import { sessionReads, sessionWrites } from './session-rows.ts';

export type RequestTable = { reads: Omit<Reads, 'watch' | 'summaries'>; writes: Writes };

/** Every request that is answered from the database, with its prepared statements. */
export function requestTable({ database, file }: Connection, home: string): RequestTable {
  const records = recordRequests(database);
  const blobs = blobRequests(database, home);
  const lists = sessionLists(database);
  const fileBlobs = database.prepare('SELECT coalesce(sum(bytes), 0) AS bytes FROM blobs WHERE content IS NULL');
  const sessions = database.prepare('SELECT count(*) AS sessions FROM sessions');
  const unused = database.prepare('PRAGMA freelist_count');
  return {
    reads: {
      ...sessionReads(database),
      ...eventReads(database),
      sessions: lists.sessions,
      record: records.record,
      records: records.records,
      blob: blobs.blob,
      size: () => ({
        databaseBytes: sizeOf(file) + sizeOf(`${file}-wal`),
        blobBytes: integer(fileBlobs.get()?.bytes),
        sessions: integer(sessions.get()?.sessions),
      }),
    },
    writes: {
      ...sessionWrites(database),
      deleteSessions: lists.deleteSessions,
      putRecord: records.putRecord,
      deleteRecord: records.deleteRecord,
      putBlob: blobs.putBlob,
      collectBlobs: blobs.collectBlobs,
      shrink: (pages) => {
        database.exec(`PRAGMA incremental_vacuum(${pages})`);
        return integer(unused.get()?.freelist_count);
      },
    },
  };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
