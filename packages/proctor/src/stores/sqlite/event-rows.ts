import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { AppError } from '../../domain/errors.ts';
import type { EventRow, EventType } from '../../domain/events.ts';
import { integer, text, textOrNull } from './columns.ts';
import { COLUMNS, type EventsPage, type Requests, type SealedEvents } from './requests.ts';

/** 2^24 events in one Session. */
const PLACES = 16_777_216;
/** Rows of one INSERT: each statement costs as much again as the row it writes. */
const ROWS_AT_ONCE = 16;
/** Where `hash` is among the values; the column `prev` is written before it. */
const HASH = 6;
const PAGE_TEXT = 1_000_000;
const INSERT = 'INSERT INTO events (place, id, type, at, run_id, author, data_sha256, prev, hash, data) VALUES ';
const ROW = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

export function placeOf(session: number, seq: number): number {
  return session * PLACES + seq;
}

/** Writes the rows of one batch. */
export function insertEvents(database: DatabaseSync): (session: number, sealed: SealedEvents) => void {
  const one = database.prepare(INSERT + ROW);
  const several = database.prepare(INSERT + Array(ROWS_AT_ONCE).fill(ROW).join(', '));
  return (session, { firstSeq, prev: firstPrev, values }) => {
    const end = values.length;
    if (firstSeq + end / COLUMNS >= PLACES) {
      throw new AppError('conflict', `expected fewer than ${PLACES} events in one Session: close it and go on in a new one`);
    }
    let place = placeOf(session, firstSeq);
    let prev = firstPrev;
    for (let at = 0; at < end; ) {
      const rows = end - at >= ROWS_AT_ONCE * COLUMNS ? ROWS_AT_ONCE : 1;
      const parameters: (string | number | null)[] = [];
      for (let row = 0; row < rows; row += 1) {
        parameters.push(place);
        for (let column = 0; column < COLUMNS; column += 1) {
          if (column === HASH) parameters.push(prev);
          parameters.push(values[at + column] ?? null);
        }
        prev = values[at + HASH] ?? '';
        place += 1;
        at += COLUMNS;
      }
      (rows === 1 ? one : several).run(...parameters);
    }
  };
}

export function eventReads(database: DatabaseSync): Pick<Requests, 'events'> {
  const session = database.prepare('SELECT number, status FROM sessions WHERE id = ?');
  const all = database.prepare(select(''));
  const some = database.prepare(select('AND type IN (SELECT value FROM json_each(?4))'));
  for (const statement of [all, some]) statement.setReturnArrays(true);
  return {
    /** `ended`: the Session is closed and nothing follows these rows; or there is no such Session any more. */
    events(id, page) {
      const found = session.get(id);
      if (found === undefined) return { rows: [], more: false, ended: true };
      const number = integer(found.number);
      const parameters = [placeOf(number, page.after), placeOf(number + 1, 0), page.limit];
      const rows = readPage(
        page.types === null ? all : some,
        page.types === null ? parameters : [...parameters, JSON.stringify(page.types)],
        number,
        page,
      );
      const more = rows.more;
      return { rows: rows.rows, more, ended: !more && found.status === 'closed' };
    },
  };
}

function select(condition: string): string {
  return `SELECT place, id, type, at, run_id, author, data_sha256, prev, hash, data FROM events
          WHERE place > ?1 AND place < ?2 ${condition} ORDER BY place LIMIT ?3`;
}

function readPage(
  statement: StatementSync,
  parameters: (string | number)[],
  number: number,
  page: EventsPage,
): { rows: EventRow[]; more: boolean } {
  const rows: EventRow[] = [];
  let size = 0;
  for (const row of statement.iterate(...parameters)) {
    const event = eventRow(row, number);
    rows.push(event);
    size += event.data?.length ?? 0;
    if (size > PAGE_TEXT) return { rows, more: true };
  }
  return { rows, more: rows.length === page.limit };
}

function eventRow(row: Record<string, SQLOutputValue>, number: number): EventRow {
  return {
    seq: integer(row[0]) - placeOf(number, 0),
    id: text(row[1]),
    type: eventType(text(row[2])),
    at: text(row[3]),
    run_id: textOrNull(row[4]),
    author: text(row[5]),
    data_sha256: text(row[6]),
    prev: text(row[7]),
    hash: text(row[8]),
    data: textOrNull(row[9]),
  };
}

/** Checked when it was written; the table of types is not loaded into the worker to check it again. */
export function eventType(type: string): EventType {
  return type as EventType;
}
