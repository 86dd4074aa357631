import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { AppError } from '../../domain/errors.ts';
import type { NewSession, SessionRow } from '../../store.ts';
import { integer, text, textOrNull } from './columns.ts';
import { insertEvents } from './event-rows.ts';
import type { AppendRequest, Requests, SealedEvents, WriterPlace } from './requests.ts';

type SessionWrites = Pick<Requests, 'create' | 'append' | 'claim' | 'release'>;

/** Writes to Sessions. Each refuses before its first change, so that a refusal needs no rollback of the others in the same transaction. */
export function sessionWrites(database: DatabaseSync): SessionWrites {
  const insertSession = database.prepare(
    `INSERT INTO sessions (id, owner, token, experiment, trial, lane, task_name, created_at, status, last_seq, last_at, last_hash)
     VALUES (?, ?, 1, ?, ?, ?, ?, ?, 'pending', 0, ?, '')`,
  );
  const find = database.prepare('SELECT number, token, owner, last_seq, last_hash FROM sessions WHERE id = ?');
  const place = database.prepare('SELECT id, token, last_seq, last_hash FROM sessions WHERE number = ?');
  const advance = database.prepare(
    'UPDATE sessions SET status = coalesce(?, status), last_seq = ?, last_at = ?, last_hash = ? WHERE number = ?',
  );
  const addBlob = database.prepare('INSERT OR IGNORE INTO blob_refs (session, sha256) VALUES (?, ?)');
  const own = database.prepare('UPDATE sessions SET owner = ?, token = token + 1 WHERE number = ?');
  const disown = database.prepare('UPDATE sessions SET owner = NULL, token = token + 1 WHERE number = ? AND token = ?');
  const insert = insertEvents(database);

  const write = (session: number, prev: string, sealed: SealedEvents): void => {
    const last = insert(session, prev, sealed);
    if (last !== null) advance.run(sealed.status, last.seq, last.at, last.hash, session);
    for (const sha256 of sealed.blobs) addBlob.run(session, sha256);
  };

  return {
    create(session: NewSession, sealed: SealedEvents) {
      if (find.get(session.id) !== undefined) {
        throw new AppError('conflict', `expected a new Session id, found that ${session.id} exists: make another id`);
      }
      const { id, owner, experiment, trial, lane, taskName, createdAt } = session;
      const number = Number(insertSession.run(id, owner, experiment, trial, lane, taskName, createdAt, createdAt).lastInsertRowid);
      write(number, '', sealed);
      return { session: number, token: 1 };
    },
    append({ session, token, prev, sealed }: AppendRequest) {
      const row = place.get(session);
      checkWriter(row, token, prev, sealed.firstSeq);
      write(session, prev, sealed);
      return null;
    },
    claim(id: string, token: number, owner: string): WriterPlace {
      const row = find.get(id);
      if (row === undefined) throw new AppError('not_found', `expected a Session, found no ${id} in the store`);
      if (integer(row.token) !== token)
        throw new AppError('conflict', `another process has just taken over Session ${id}: leave it to that one`);
      const session = integer(row.number);
      own.run(owner, session);
      return { session, token: token + 1, lastSeq: integer(row.last_seq), lastHash: text(row.last_hash) };
    },
    release({ session, token }) {
      disown.run(session, token);
      return null;
    },
  };
}

export function sessionRow(row: Record<string, SQLOutputValue>): SessionRow {
  return {
    id: text(row.id),
    owner: textOrNull(row.owner),
    experiment: textOrNull(row.experiment),
    trial: textOrNull(row.trial),
    lane: textOrNull(row.lane),
    taskName: textOrNull(row.task_name),
    createdAt: text(row.created_at),
    status: statusOf(text(row.status)),
    lastSeq: integer(row.last_seq),
    lastAt: text(row.last_at),
  };
}

export const SESSION_COLUMNS = 'id, owner, experiment, trial, lane, task_name, created_at, status, last_seq, last_at';

export function sessionReads(database: DatabaseSync): Pick<Requests, 'session' | 'claimable'> {
  const one: StatementSync = database.prepare(`SELECT ${SESSION_COLUMNS}, token FROM sessions WHERE id = ?`);
  return {
    session(id) {
      const row = one.get(id);
      return row === undefined ? null : sessionRow(row);
    },
    claimable(id) {
      const row = one.get(id);
      if (row === undefined) throw new AppError('not_found', `expected a Session, found no ${id} in the store`);
      return { token: integer(row.token), owner: textOrNull(row.owner) };
    },
  };
}

function checkWriter(row: Record<string, SQLOutputValue> | undefined, token: number, prev: string, firstSeq: number): void {
  if (row === undefined) throw new AppError('stale_writer', 'expected to append to a Session, found that it was deleted');
  if (integer(row.token) === token && integer(row.last_seq) + 1 === firstSeq && text(row.last_hash) === prev) return;
  throw new AppError(
    'stale_writer',
    `expected to be the one writer of Session ${text(row.id)}, found that it was released or taken over: read it again`,
  );
}

function statusOf(status: string): SessionRow['status'] {
  switch (status) {
    case 'pending':
    case 'running':
    case 'idle':
    case 'closed':
      return status;
    default:
      throw new AppError('corrupt', `expected a Session's status, found ${status}`);
  }
}
