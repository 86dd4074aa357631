import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../domain/errors.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { integer } from './columns.ts';

/** 'proc': tells a Proctor store from any other database. */
const APPLICATION_ID = 0x70726f63;

/** Brings a store to this program's format, each step in a transaction of its own: an unfinished one leaves the format before it. */
export function migrate(database: DatabaseSync, file: string, newId: string, migrations: readonly string[] = MIGRATIONS): void {
  while (formatOf(database, file, migrations.length) < migrations.length) {
    database.exec('BEGIN IMMEDIATE');
    try {
      // Another process may have taken this step while the lock was waited for.
      const format = formatOf(database, file, migrations.length);
      const step = migrations[format];
      if (step !== undefined) {
        database.exec(step);
        if (format === 0) database.prepare('INSERT INTO store (id) VALUES (?)').run(newId);
        database.exec(`PRAGMA user_version = ${format + 1}; PRAGMA application_id = ${APPLICATION_ID}`);
      }
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** For a store that is only read: it has this program's format, or is refused. */
export function checkFormat(database: DatabaseSync, file: string, migrations: readonly string[] = MIGRATIONS): void {
  const format = formatOf(database, file, migrations.length);
  if (format === migrations.length) return;
  throw new AppError(
    'store_unavailable',
    `the store ${file} has the older format ${format} and can only be read: open it once where it can be written, which makes it format ${migrations.length}`,
  );
}

/** All three facts of one moment: another process may be making the store right now. */
function formatOf(database: DatabaseSync, file: string, known: number): number {
  const ownTransaction = !database.isTransaction;
  if (ownTransaction) database.exec('BEGIN');
  const format = integer(database.prepare('PRAGMA user_version').get()?.user_version);
  const application = integer(database.prepare('PRAGMA application_id').get()?.application_id);
  const tables = integer(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.tables);
  if (ownTransaction) database.exec('COMMIT');
  if (application !== APPLICATION_ID && (format > 0 || tables > 0)) {
    throw new AppError('corrupt', `${file} is a database of another program: set PROCTOR_HOME to another folder`);
  }
  if (format > known) {
    throw new AppError(
      'store_unavailable',
      `the store ${file} was written by a newer proctor (its format is ${format}, this one knows ${known}): install the newer one, or set PROCTOR_HOME to another folder`,
    );
  }
  return format;
}
