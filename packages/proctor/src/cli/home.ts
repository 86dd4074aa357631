import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where results live: `--store`, else PROCTOR_HOME, else the platform's data folder. */
export function storeHome(flag: string | null, environment: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const named = flag ?? environment.PROCTOR_HOME ?? '';
  if (named !== '') return resolve(named);
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'proctor');
  const data = environment.XDG_DATA_HOME ?? '';
  return join(data.startsWith('/') ? data : join(homedir(), '.local', 'share'), 'proctor');
}
