import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { SessionFilter } from '../../store.ts';
import { integer } from './columns.ts';
import { placeOf } from './event-rows.ts';
import type { Requests } from './requests.ts';
import { SELECT_SESSIONS, sessionRow } from './session-rows.ts';

type Clause = { where: string; values: SQLInputValue[] };

/** The SQL of a filter. `before` is a time: created before it. */
export function filterClause(filter: SessionFilter): Clause {
  const parts: string[] = ['1'];
  const values: SQLInputValue[] = [];
  const add = (part: string, value: SQLInputValue): void => {
    parts.push(part);
    values.push(value);
  };
  if (filter.ids !== undefined) add('sessions.id IN (SELECT value FROM json_each(?))', JSON.stringify(filter.ids));
  if (filter.experiment !== undefined) add('experiment = ?', filter.experiment);
  if (filter.trial !== undefined) add('trial = ?', filter.trial);
  if (filter.before !== undefined) add('created_at < ?', filter.before);
  if (filter.open === true) parts.push(`owner IS NOT NULL AND status <> 'closed'`);
  if (filter.open === false) parts.push(`(owner IS NULL OR status = 'closed')`);
  return { where: parts.join(' AND '), values };
}

export function sessionLists(database: DatabaseSync): Pick<Requests, 'sessions' | 'deleteSessions'> {
  const deleteEvents = database.prepare('DELETE FROM events WHERE place > ? AND place < ?');
  const deleteBlobs = database.prepare('DELETE FROM blob_refs WHERE session = ?');
  const deleteSession = database.prepare('DELETE FROM sessions WHERE number = ?');
  return {
    sessions(filter) {
      const { where, values } = filterClause(filter);
      const statement = database.prepare(`${SELECT_SESSIONS} WHERE ${where} ORDER BY number DESC LIMIT ?`);
      return statement.all(...values, filter.limit ?? -1).map(sessionRow);
    },
    /** A few at a time, so that a large deletion holds up no one's appends. */
    deleteSessions(filter, atMost) {
      const { where, values } = filterClause(filter);
      const limit = filter.limit === undefined ? atMost : Math.min(filter.limit, atMost);
      const found = database.prepare(`SELECT number FROM sessions WHERE ${where} ORDER BY number DESC LIMIT ?`).all(...values, limit);
      let events = 0;
      for (const row of found) {
        const number = integer(row.number);
        events += Number(deleteEvents.run(placeOf(number, 0), placeOf(number + 1, 0)).changes);
        deleteBlobs.run(number);
        deleteSession.run(number);
      }
      return { sessions: found.length, events };
    },
  };
}
