import { accessSync, constants, type Dirent, existsSync, lstatSync, opendirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bytes } from '../columns.ts';
import { type Finding, missing, ok, warning } from './finding.ts';

/** Where results go, whether they can, and how much room there is. */
export function storeFindings(home: string): Finding[] {
  const place = nearestExisting(home);
  return [storeFinding(home, place), diskFinding('disk', place, 'proctor gc --older-than 7d')];
}

function storeFinding(home: string, place: string): Finding {
  if (!canWrite(place))
    return missing('store', `${home}: ${place} cannot be written`, 'export PROCTOR_HOME="$HOME/proctor"  # any folder you may write');
  if (place !== home) return ok('store', `${home} (made at first use)`);
  const size = sizeOf(home);
  return ok('store', `${home}, ${size.complete ? '' : 'more than '}${bytes(size.bytes)} in ${size.files.toLocaleString('en-US')} files`);
}

/** Room on the filesystem of `place`; `fix` frees some. */
export function diskFinding(name: string, place: string, fix: string): Finding {
  const { bavail, blocks, bsize, type } = statfsSync(place);
  const free = bavail * bsize;
  const kind = NETWORK_TYPES[type];
  const text = `${place}: ${bytes(free)} of ${bytes(blocks * bsize)} free${kind === undefined ? '' : `, on ${kind}`}`;
  if (kind !== undefined)
    return warning(name, text, `use a local folder for ${place}  # locks of a network filesystem are not to be trusted`);
  return free < LOW_BYTES ? warning(name, text, fix) : ok(name, text);
}

/** Of files up to a bound, so that a doctor's visit stays short. */
function sizeOf(folder: string): { bytes: number; files: number; complete: boolean } {
  const waiting = [folder];
  const size = { bytes: 0, files: 0, complete: true };
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const entry of entriesOf(path)) {
      const inside = join(path, entry.name);
      if (entry.isDirectory()) waiting.push(inside);
      else {
        size.bytes += lstatSync(inside, { throwIfNoEntry: false })?.size ?? 0;
        size.files += 1;
      }
      if (size.files >= MOST_FILES) return { ...size, complete: false };
    }
  }
  return size;
}

function* entriesOf(path: string): Generator<Dirent> {
  try {
    using folder = opendirSync(path);
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) yield entry;
  } catch {
    // Not ours to read, or gone meanwhile.
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const LOW_BYTES = 5 * 1024 ** 3;
const MOST_FILES = 100_000;
const NETWORK_TYPES: Readonly<Record<number, string>> = { 26985: 'NFS', 4283649346: 'CIFS', 4266872130: 'SMB2', 16914839: '9p' };
