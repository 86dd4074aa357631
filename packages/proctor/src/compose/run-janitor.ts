import { setTimeout as sleep } from 'node:timers/promises';
import { compose } from '../compose.ts';
import { ownerDied } from '../engine/janitor.ts';
import { isAlive, parseOwner } from '../system/processes.ts';

/** The janitor's whole life: waits for its owner's pipe to close and, unless it was dismissed, removes what the owner left. */
export async function runJanitor(home: string, owner: string): Promise<void> {
  if (!(await ownerDied(process.stdin))) return;
  const dead = parseOwner(owner);
  for (let waited = 0; dead !== null && isAlive(dead) && waited < DYING_MS; waited += STEP_MS) await sleep(STEP_MS);
  const composed = await compose({ home, directory: home, environment: process.env, janitorArgv: [] });
  try {
    await composed.beginRunning();
  } finally {
    await composed.close();
  }
}

/** A pipe closes before its process is gone. */
const DYING_MS = 10_000;
const STEP_MS = 20;
