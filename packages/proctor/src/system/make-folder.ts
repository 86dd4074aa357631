import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a folder and those above it, one after the other, and names the new ones, outermost first. `mkdir` with `recursive` never returns where a
 * filesystem answers "no such file" for a folder whose parent is there, as /proc does.
 */
export function makeFolder(folder: string, options: { mode?: number } = {}): string[] {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  if (missing.length === 0 && !statSync(folder).isDirectory()) throw new Error(`${folder} is a file, not a folder`);
  return missing.filter((one) => madeNow(one, options.mode));
}

/** False: another process made it meanwhile. */
function madeNow(folder: string, mode: number | undefined): boolean {
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return false;
    throw error;
  }
}
