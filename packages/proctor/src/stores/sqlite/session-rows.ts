import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { AppError } from '../../domain/errors.ts';
import type { NewSession, SessionRow } from '../../store.ts';
import { integer, text, textOrNull } from './columns.ts';
import { insertEvents, placeOf } from './event-rows.ts';
import type { AppendRequest, Requests, SealedEvents, WriterPlace } from './requests.ts';

type SessionWrites = Pick<Requests, 'create' | 'append' | 'claim' | 'release'>;

/** Writes to Sessions. Each refuses before its first change, so that a refusal needs no rollback of the others in the same transaction. */
export function sessionWrites(database: DatabaseSync): SessionWrites {
  const insertSession = database.prepare(
    'INSERT INTO sessions (id, owner, token, experiment, trial, lane, task_name, created_at, status) VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?)',
  );
  const byId = database.prepare(`SELECT number, token FROM sessions WHERE id = ?`);
  const writing = database.prepare(
    `SELECT sessions.id, token, last.place, last.hash FROM sessions LEFT JOIN events AS last ON last.place = (
       SELECT place FROM events WHERE place > ?2 AND place < ?3 ORDER BY place DESC LIMIT 1
     ) WHERE number = ?1`,
  );
  const lastEvent = database.prepare('SELECT place, hash FROM events WHERE place > ? AND place < ? ORDER BY place DESC LIMIT 1');
  const setStatus = database.prepare('UPDATE sessions SET status = ? WHERE number = ?');
  const addBlob = database.prepare('INSERT OR IGNORE INTO blob_refs (session, sha256) VALUES (?, ?)');
  const own = database.prepare('UPDATE sessions SET owner = ?, token = token + 1 WHERE number = ?');
  const disown = database.prepare('UPDATE sessions SET owner = NULL, token = token + 1 WHERE number = ? AND token = ?');
  const insert = insertEvents(database);
  const mark = database.prepare('SAVEPOINT streamed');
  const back = database.prepare('ROLLBACK TO streamed');
  const unmark = database.prepare('RELEASE streamed');

  const write = (session: number, sealed: SealedEvents): void => {
    insert(session, sealed);
    for (const sha256 of sealed.blobs) addBlob.run(session, sha256);
    if (sealed.status !== null) setStatus.run(sealed.status, session);
  };
  /** Refuses like any other write: what came before the part that is missing is taken back. */
  const writeInParts = (session: number, first: SealedEvents, later: Iterable<SealedEvents | null>): void => {
    mark.run();
    write(session, first);
    for (const part of later) {
      if (part === null) {
        back.run();
        unmark.run();
        throw new AppError('internal', 'expected the rest of an append, found that its writer gave it up');
      }
      write(session, part);
    }
    unmark.run();
  };
  const last = (session: number): { lastSeq: number; lastHash: string } => {
    const row = lastEvent.get(placeOf(session, 0), placeOf(session + 1, 0));
    return row === undefined
      ? { lastSeq: 0, lastHash: '' }
      : { lastSeq: integer(row.place) - placeOf(session, 0), lastHash: text(row.hash) };
  };

  return {
    create(session: NewSession, sealed: SealedEvents) {
      if (byId.get(session.id) !== undefined) {
        throw new AppError('conflict', `expected a new Session id, found that ${session.id} exists: make another id`);
      }
      const { id, owner, experiment, trial, lane, taskName, createdAt } = session;
      const status = sealed.status ?? 'pending';
      const number = Number(insertSession.run(id, owner, experiment, trial, lane, taskName, createdAt, status).lastInsertRowid);
      write(number, sealed);
      return { session: number, token: 1 };
    },
    append({ session, token, sealed }: AppendRequest, later?: Iterable<SealedEvents | null>) {
      const row = writing.get(session, placeOf(session, 0), placeOf(session + 1, 0));
      if (row === undefined) throw new AppError('stale_writer', 'expected to append to a Session, found that it was deleted');
      const lastSeq = row.place === null ? 0 : integer(row.place) - placeOf(session, 0);
      const lastHash = textOrNull(row.hash) ?? '';
      if (integer(row.token) !== token || lastSeq + 1 !== sealed.firstSeq || lastHash !== sealed.prev) {
        throw new AppError(
          'stale_writer',
          `expected to be the one writer of Session ${text(row.id)}, found that it was released or taken over: read it again`,
        );
      }
      if (later === undefined) write(session, sealed);
      else writeInParts(session, sealed, later);
      return null;
    },
    claim(id: string, token: number, owner: string): WriterPlace {
      const row = byId.get(id);
      if (row === undefined) throw new AppError('not_found', `expected a Session, found no ${id} in the store`);
      if (integer(row.token) !== token) {
        throw new AppError('conflict', `another process has just taken over Session ${id}: leave it to that one`);
      }
      const session = integer(row.number);
      own.run(owner, session);
      return { session, token: token + 1, ...last(session) };
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
    lastSeq: row.last_place === null ? 0 : integer(row.last_place) - placeOf(integer(row.number), 0),
    lastAt: text(row.last_at ?? row.created_at),
  };
}

/** Sessions with their last events, for `sessionRow`. */
export const SELECT_SESSIONS = `
  SELECT number, token, sessions.id, owner, experiment, trial, lane, task_name, created_at, status, last.place AS last_place, last.at AS last_at
  FROM sessions LEFT JOIN events AS last ON last.place = (
    SELECT place FROM events WHERE place > number * ${placeOf(1, 0)} AND place < (number + 1) * ${placeOf(1, 0)} ORDER BY place DESC LIMIT 1
  )`;

export function sessionReads(database: DatabaseSync): Pick<Requests, 'session' | 'claimable'> {
  const one: StatementSync = database.prepare(`${SELECT_SESSIONS} WHERE sessions.id = ?`);
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
