import { randomUUID } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, ownerText, ownProcess, parseOwner } from '../../system/processes.ts';

/**
 * One holder of a name on this host, whichever process, user or TMPDIR it has. A lock whose holder is provably gone is taken over. The signal's
 * reason is thrown when it fires while waiting.
 */
export async function lockOnHost(name: string, signal?: AbortSignal): Promise<AsyncDisposable> {
  mkdirSync(DIRECTORY, { recursive: true });
  try {
    chmodSync(DIRECTORY, 0o1777);
  } catch {
    // Another user's, and already open to all.
  }
  const file = path.join(DIRECTORY, `${name}.lock`);
  for (;;) {
    signal?.throwIfAborted();
    if (take(file)) return { [Symbol.asyncDispose]: async () => rmSync(file, { force: true }) };
    dropIfStale(file);
    await sleep(POLL_MS, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/** Not os.tmpdir(): two callers with another TMPDIR must meet here. */
const DIRECTORY = '/tmp/proctor-locks';
const POLL_MS = 100;

/** Written aside and linked, so that a lock never exists without its holder's name. */
function take(file: string): boolean {
  const aside = `${file}.${randomUUID()}`;
  writeFileSync(aside, ownerText(ownProcess()), { mode: 0o644 });
  try {
    linkSync(aside, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(aside, { force: true });
  }
}

function dropIfStale(file: string): void {
  const holder = holderOf(file);
  if (holder === null || isAlive(holder)) return;
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = holderOf(aside);
  // Somebody took it over between the two looks: it is given back.
  if (moved !== null && isAlive(moved)) {
    try {
      linkSync(aside, file);
    } catch {
      // A third has it by now; the second finds out when it is done, and no earlier build is lost.
    }
  }
  rmSync(aside, { force: true });
}

function holderOf(file: string): ReturnType<typeof parseOwner> {
  try {
    return parseOwner(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
