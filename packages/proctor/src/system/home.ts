import { AppError, messageOf } from '../domain/errors.ts';
import { makeFolder } from './make-folder.ts';

/** Makes the store's folder for its owner alone; one that exists is left as it is. Errors: store_unavailable. */
export function createHome(home: string): void {
  try {
    makeFolder(home, { mode: 0o700 });
  } catch (cause) {
    throw new AppError(
      'store_unavailable',
      `the store's folder ${home} cannot be made (${messageOf(cause)}): set PROCTOR_HOME to a folder you may write`,
      { cause },
    );
  }
}
