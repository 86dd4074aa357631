import { AppError, type ErrorCode, messageOf } from '../../domain/errors.ts';

/** What an error of SQLite or of the disk means. Primary result codes: https://sqlite.org/rescode.html. */
export type FaultKind = 'busy' | 'full' | 'corrupt' | 'read_only' | 'other';

export function faultKind(error: unknown): FaultKind {
  if (!(error instanceof Error)) return 'other';
  if ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) return 'full';
  if ('code' in error && (error.code === 'EROFS' || error.code === 'EACCES' || error.code === 'EPERM')) return 'read_only';
  const result = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
  if (result === IOERR_SHMSIZE) return 'full';
  return KINDS[result & 0xff] ?? 'other';
}

/** The error that a caller sees, naming the store and the next step. One of our own passes unchanged. */
export function asAppError(error: unknown, file: string): AppError {
  if (error instanceof AppError) return error;
  const kind = faultKind(error);
  const { code, sentence } = FAULTS[kind];
  return new AppError(code, sentence(file, messageOf(error)), { cause: error, details: { path: file } });
}

const IOERR_SHMSIZE = 4874;
const KINDS: Readonly<Record<number, FaultKind>> = { 5: 'busy', 6: 'busy', 8: 'read_only', 11: 'corrupt', 13: 'full', 26: 'corrupt' };
const FAULTS: Readonly<Record<FaultKind, { code: ErrorCode; sentence: (file: string, detail: string) => string }>> = {
  busy: {
    code: 'store_unavailable',
    sentence: (file) =>
      `the store ${file} stayed locked by another process: end that process or wait for it, then run the same command again`,
  },
  full: {
    code: 'store_full',
    sentence: (file) =>
      `the disk of the store ${file} is full: free some space (\`proctor gc\` removes what no Session needs), then run the same command again`,
  },
  corrupt: {
    code: 'corrupt',
    sentence: (file, detail) =>
      `the store ${file} cannot be read (${detail}): copy its folder away, then try \`sqlite3 ${file} .recover\`, or set PROCTOR_HOME to a new folder`,
  },
  read_only: {
    code: 'store_unavailable',
    sentence: (file, detail) =>
      `the store ${file} can only be read (${detail}): make its folder writable, or set PROCTOR_HOME to a folder you may write`,
  },
  other: {
    code: 'store_unavailable',
    sentence: (file, detail) =>
      `the store ${file} failed (${detail}): see that its folder exists and its disk works, then run the same command again`,
  },
};
