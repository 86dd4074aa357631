import type { StatementSync } from 'node:sqlite';
import { AppError } from '../../domain/errors.ts';
import { BUSY_LIMIT_MS, busyPauseMs, type Connection } from './connection.ts';
import { asAppError, faultKind } from './faults.ts';
import type { Reserve } from './reserve.ts';

/** One write: what it does inside a transaction, and who hears of it once that is durable. */
export type Write = {
  run: () => unknown;
  /** Small, and says how something ended: tried even on a full disk. */
  isEnding: boolean;
  done: (result: { value: unknown } | { error: AppError }) => void;
};

/**
 * Group commit: whatever arrives while a transaction commits shares the next one. A write that refuses (an AppError thrown before its first change)
 * leaves the others of its group alone.
 */
export class CommitQueue {
  readonly #connection: Connection;
  readonly #reserve: Reserve;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  /** Sends the answers of one commit together. */
  readonly #flushed: () => void;
  #waiting: Write[] = [];
  #scheduled = false;
  #busySince: number | null = null;

  constructor(connection: Connection, reserve: Reserve, flushed: () => void) {
    this.#connection = connection;
    this.#reserve = reserve;
    this.#begin = connection.database.prepare('BEGIN IMMEDIATE');
    this.#end = connection.database.prepare('COMMIT');
    this.#flushed = flushed;
  }

  add(write: Write): void {
    this.#waiting.push(write);
    this.#schedule(() => setImmediate(() => this.#commit()));
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && !this.#scheduled;
  }

  #schedule(start: () => void): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    start();
  }

  #commit(): void {
    this.#scheduled = false;
    const group = this.#waiting;
    this.#waiting = [];
    try {
      this.#commitGroup(group);
      this.#busySince = null;
    } catch (error) {
      this.#afterFault(group, error);
    }
    this.#flushed();
  }

  #afterFault(group: Write[], error: unknown): void {
    if (faultKind(error) === 'busy' && !this.#hasWaitedLongEnough()) {
      this.#waiting = [...group, ...this.#waiting];
      this.#schedule(() => setTimeout(() => this.#commit(), busyPauseMs()));
      return;
    }
    this.#busySince = null;
    if (faultKind(error) === 'full') this.#reserve.release();
    const [only] = group;
    const again = group.length > 1 || (faultKind(error) === 'full' && only?.isEnding === true);
    for (const write of group) {
      if (again) this.#commitAlone(write);
      else write.done({ error: asAppError(error, this.#connection.file) });
    }
  }

  /** After a group failed as a whole, so that the cause stays with the write that has it. */
  #commitAlone(write: Write): void {
    try {
      this.#commitGroup([write]);
    } catch (error) {
      if (faultKind(error) === 'busy') this.add(write);
      else write.done({ error: asAppError(error, this.#connection.file) });
    }
  }

  #commitGroup(group: readonly Write[]): void {
    const { database, file, readOnly } = this.#connection;
    const admitted = readOnly ? [] : group.filter((write) => this.#reserve.admits(write.isEnding));
    const results = new Map<Write, { value: unknown } | { error: AppError }>();
    if (admitted.length > 0) {
      this.#begin.run();
      try {
        for (const write of admitted) results.set(write, attempt(write));
        this.#end.run();
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    }
    for (const write of group) write.done(results.get(write) ?? { error: readOnly ? readOnlyError(file) : fullError(file) });
  }

  #hasWaitedLongEnough(): boolean {
    this.#busySince ??= Date.now();
    return Date.now() - this.#busySince > BUSY_LIMIT_MS;
  }
}

function attempt(write: Write): { value: unknown } | { error: AppError } {
  try {
    return { value: write.run() };
  } catch (error) {
    if (error instanceof AppError) return { error };
    throw error;
  }
}

function readOnlyError(file: string): AppError {
  return asAppError(Object.assign(new Error('its folder or file is not writable'), { code: 'EROFS' }), file);
}

function fullError(file: string): AppError {
  return asAppError(Object.assign(new Error('disk full'), { code: 'ENOSPC' }), file);
}
