import type { SQLOutputValue } from 'node:sqlite';
import { AppError } from '../../domain/errors.ts';

/** Reads of single columns, checked: a store whose columns hold anything else was not written by us. */
export function text(value: SQLOutputValue | undefined): string {
  return typeof value === 'string' ? value : wrong('text', value);
}

export function textOrNull(value: SQLOutputValue | undefined): string | null {
  return value === null ? null : text(value);
}

export function integer(value: SQLOutputValue | undefined): number {
  return typeof value === 'number' ? value : wrong('a number', value);
}

export function bytesOrNull(value: SQLOutputValue | undefined): Uint8Array | null {
  return value === null || value instanceof Uint8Array ? value : wrong('bytes', value);
}

function wrong(expected: string, found: unknown): never {
  throw new AppError(
    'corrupt',
    `expected ${expected} in a column of the store, found ${typeof found}: copy the store's folder away and set PROCTOR_HOME to a new one`,
  );
}
