import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** The first executable of that name on the host's PATH and in the places where system programs are; null = none. */
export function findProgram(name: string, environment: Readonly<Record<string, string | undefined>>): string | null {
  const places = (environment.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter);
  for (const place of places) {
    if (!isAbsolute(place)) continue;
    const path = join(place, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not here: the next place.
    }
  }
  return null;
}
