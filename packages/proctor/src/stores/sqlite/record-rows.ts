import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { StoredRecord } from '../../store.ts';
import { integer, text } from './columns.ts';
import type { Requests } from './requests.ts';

type RecordRequests = Pick<Requests, 'putRecord' | 'record' | 'records' | 'deleteRecord'>;

/** `body` stays JSON text here; the caller's side parses it. */
export function recordRequests(database: DatabaseSync): RecordRequests {
  const same = database.prepare(`SELECT ${RECORD} FROM records WHERE noun = ? AND name = ? AND digest = ?`);
  const latest = database.prepare(`SELECT ${RECORD} FROM records WHERE noun = ? AND name = ? ORDER BY version DESC LIMIT 1`);
  const byId = database.prepare(`SELECT ${RECORD} FROM records WHERE noun = ? AND id = ? ORDER BY version DESC LIMIT 1`);
  const versionOf = database.prepare(
    `SELECT ${RECORD} FROM records WHERE noun = ?1 AND (name = ?2 OR id = ?2) AND version = ?3 ORDER BY id = ?2 DESC LIMIT 1`,
  );
  const all = database.prepare(`SELECT ${RECORD} FROM records WHERE noun = ? ORDER BY name, version`);
  const insert = database.prepare('INSERT INTO records (noun, name, version, id, digest, body, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM records WHERE noun = ? AND id = ?');
  return {
    putRecord(record, newId) {
      const { noun, name, digest, body, createdAt } = record;
      const found = same.get(noun, name, digest);
      if (found !== undefined) return stored(found);
      const before = latest.get(noun, name);
      const id = before === undefined ? newId : text(before.id);
      const version = before === undefined ? 1 : integer(before.version) + 1;
      insert.run(noun, name, version, id, digest, body, createdAt);
      return { noun, id, name, version, digest, body, createdAt };
    },
    record(noun, idOrName, version) {
      const found = version === null ? (byId.get(noun, idOrName) ?? latest.get(noun, idOrName)) : versionOf.get(noun, idOrName, version);
      return found === undefined ? null : stored(found);
    },
    records(noun) {
      return all.all(noun).map(stored);
    },
    deleteRecord(noun, id) {
      remove.run(noun, id);
      return null;
    },
  };
}

const RECORD = 'noun, id, name, version, digest, body, created_at';

function stored(row: Record<string, SQLOutputValue>): StoredRecord {
  return {
    noun: text(row.noun),
    id: text(row.id),
    name: text(row.name),
    version: integer(row.version),
    digest: text(row.digest),
    body: text(row.body),
    createdAt: text(row.created_at),
  };
}
