import type { DatabaseSync } from 'node:sqlite';
import { integer } from './columns.ts';

const POLL_MS = 75;

/** Tells of commits by other connections, of this process or another, while anyone wants to know. */
export function watchOthers(database: DatabaseSync, changed: () => void): (on: boolean) => null {
  const version = database.prepare('PRAGMA data_version');
  const read = (): number => integer(version.get()?.data_version);
  let timer: NodeJS.Timeout | null = null;
  let seen = 0;
  return (on) => {
    if (timer !== null) clearInterval(timer);
    timer = null;
    if (!on) return null;
    seen = read();
    timer = setInterval(() => {
      try {
        const now = read();
        if (now === seen) return;
        seen = now;
      } catch {
        // What a read cannot be told of now is told by the next one.
        return;
      }
      changed();
    }, POLL_MS);
    return null;
  };
}
