import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Change } from '../../sandbox.ts';

/** Where the engine keeps a container's own layer and those below it, when it says so and this process may look. */
export const OverlaySchema = z.object({
  GraphDriver: z.object({
    Name: z.literal('overlay2'),
    Data: z.object({ UpperDir: z.string().startsWith('/'), LowerDir: z.string().startsWith('/') }),
  }),
});
export type Overlay = z.infer<typeof OverlaySchema>['GraphDriver']['Data'];

/** Written by the engine itself into every container. */
const OF_THE_ENGINE = new Set(['/etc/hostname', '/etc/hosts', '/etc/resolv.conf', '/etc/mtab', '/.dockerenv', '/dev', '/proc', '/sys']);

/**
 * What a container changed, read from its own overlay layer: milliseconds where the engine's comparison of whole trees takes half a second. Null =
 * this process may not look, or finds something it does not know.
 */
export function layerChanges(overlay: Overlay): Change[] | null {
  const lowers = overlay.LowerDir.split(':');
  const changes: Change[] = [];
  const was = (relative: string) => lowers.some((lower) => lstatSync(path.join(lower, relative), { throwIfNoEntry: false }) !== undefined);
  const walk = (relative: string): void => {
    for (const entry of readdirSync(path.join(overlay.UpperDir, relative), { withFileTypes: true })) {
      const inside = `${relative}/${entry.name}`;
      if (OF_THE_ENGINE.has(inside)) continue;
      // A character device 0:0 stands for what was removed.
      if (entry.isCharacterDevice() && lstatSync(path.join(overlay.UpperDir, inside)).rdev === 0) {
        changes.push({ path: inside, kind: 'deleted' });
        continue;
      }
      const existed = was(inside);
      if (!entry.isDirectory()) changes.push({ path: inside, kind: existed ? 'modified' : 'added' });
      else {
        if (!existed) changes.push({ path: inside, kind: 'added' });
        walk(inside);
      }
    }
  };
  try {
    walk('');
  } catch {
    return null;
  }
  return changes.sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
}
