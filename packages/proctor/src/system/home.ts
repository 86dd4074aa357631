import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { AppError, messageOf } from '../domain/errors.ts';

/** Where this user's store lives: PROCTOR_HOME, else the platform's data folder. Absolute; not created here. */
export function homePath(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): string {
  const named = environment.PROCTOR_HOME;
  if (named !== undefined && named !== '') return path.resolve(named);
  const user = environment.HOME !== undefined && environment.HOME !== '' ? environment.HOME : homedir();
  const data = environment.XDG_DATA_HOME;
  // The base directory specification has a relative value ignored.
  if (data !== undefined && path.isAbsolute(data)) return path.join(data, 'proctor');
  return platform === 'darwin'
    ? path.join(user, 'Library', 'Application Support', 'proctor')
    : path.join(user, '.local', 'share', 'proctor');
}

/** Makes the folder for its owner alone; one that exists is left as it is. Errors: store_unavailable. */
export function createHome(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new AppError(
      'store_unavailable',
      `the store's folder ${home} cannot be made (${messageOf(cause)}): set PROCTOR_HOME to a folder you may write`,
      { cause },
    );
  }
}
