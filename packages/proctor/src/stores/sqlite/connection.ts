import { accessSync, closeSync, constants, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { AppError, messageOf } from '../../domain/errors.ts';
import { createHome } from '../../system/home.ts';
import { asAppError, faultKind } from './faults.ts';
import { checkFormat, migrate } from './migrate.ts';
import { loadSqlite } from './node-sqlite.ts';

/** SQLite's own busy wait; it only stops the worker, and even that not longer. What stays busy is tried again from JavaScript. */
const BUSY_WAIT_MS = 50;
export const BUSY_LIMIT_MS = 60_000;

export type Connection = { database: DatabaseSync; file: string; readOnly: boolean };

/** Opens, and where it may write makes and migrates, the store's database. Errors: store_unavailable, store_full, corrupt. */
export async function connect(home: string, newId: string): Promise<Connection> {
  const file = path.join(home, 'store.db');
  try {
    return isWritable(home, file) ? await openForWriting(home, file, newId) : openForReading(file);
  } catch (error) {
    throw asAppError(error, file);
  }
}

/** Until it is not busy, waiting outside SQLite. */
export async function retryWhileBusy<T>(attempt: () => T): Promise<T> {
  const until = Date.now() + BUSY_LIMIT_MS;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (faultKind(error) !== 'busy' || Date.now() > until) throw error;
    }
    await delay(busyPauseMs());
  }
}

/** Uneven, so that two processes do not meet again at the same moment. */
export function busyPauseMs(): number {
  return 1 + Math.random() * 4;
}

async function openForWriting(home: string, file: string, newId: string): Promise<Connection> {
  if (!existsSync(home)) createHome(home);
  const isNew = !existsSync(file);
  // For its owner alone, as are the journal files, whose modes SQLite copies from it.
  if (isNew) closeSync(openSync(file, 'a', 0o600));
  const database = new (loadSqlite().DatabaseSync)(file, { timeout: BUSY_WAIT_MS });
  try {
    // Counts only before the first table: what is deleted can then be given back to the disk in small steps.
    await retryWhileBusy(() => database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL'));
    database.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY');
    await retryWhileBusy(() => migrate(database, file, newId));
  } catch (error) {
    database.close();
    throw error;
  }
  if (isNew) for (const folder of [home, path.dirname(home)]) syncFolder(folder);
  return { database, file, readOnly: false };
}

function openForReading(file: string): Connection {
  if (!existsSync(file)) {
    throw new AppError(
      'store_unavailable',
      `there is no store at ${file} and its folder cannot be written: set PROCTOR_HOME to a folder you may write`,
    );
  }
  const { DatabaseSync } = loadSqlite();
  const plain = new DatabaseSync(file, { readOnly: true, timeout: BUSY_WAIT_MS });
  try {
    checkFormat(plain, file);
    return { database: plain, file, readOnly: true };
  } catch (error) {
    plain.close();
    if (error instanceof AppError || faultKind(error) === 'corrupt') throw error;
    return openImmutable(file, error);
  }
}

/** Without a shared-memory file, and no way to make one, SQLite reads only a file that nobody changes; what a journal holds it would not see. */
function openImmutable(file: string, first: unknown): Connection {
  const journal = `${file}-wal`;
  if (existsSync(journal) && statSync(journal).size > 0) {
    throw new AppError(
      'store_unavailable',
      `the store ${file} has writes in ${journal} that cannot be read in place (${messageOf(first)}): copy its folder to one that you may write, and set PROCTOR_HOME to that`,
    );
  }
  const database = new (loadSqlite().DatabaseSync)(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true });
  try {
    checkFormat(database, file);
    return { database, file, readOnly: true };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Folder and file, or what there is of them: the nearest existing parent says whether they can be made. */
function isWritable(home: string, file: string): boolean {
  let nearest = home;
  while (!existsSync(nearest)) {
    const parent = path.dirname(nearest);
    if (parent === nearest) return false;
    nearest = parent;
  }
  return mayWrite(nearest) && (!existsSync(file) || mayWrite(file));
}

function mayWrite(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
