import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** Where results live: `--store`, else PROCTOR_HOME, else the platform's data folder. */
export function storeHome(flag: string | null, environment: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const named = flag ?? environment.PROCTOR_HOME ?? '';
  if (named !== '') return resolve(named);
  const user = environment.HOME === undefined || environment.HOME === '' ? homedir() : environment.HOME;
  const data = environment.XDG_DATA_HOME;
  if (data !== undefined && isAbsolute(data)) return join(data, 'proctor');
  return platform === 'darwin' ? join(user, 'Library', 'Application Support', 'proctor') : join(user, '.local', 'share', 'proctor');
}
