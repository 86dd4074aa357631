import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { OwnedThing, SandboxLabels } from '../../sandbox.ts';
import { isAlive, type Owner, ownerText, parseOwner } from '../../system/processes.ts';

const labelFile = z.object({ store: z.string(), owner: z.string(), session: z.string(), expiresAt: z.string() });

const LABELS = 'labels.json';
const KEEPER = 'keeper';

/** A new folder below `directory` that says whose it is before anything lies in it. */
export async function makeLabelledFolder(directory: string, labels: SandboxLabels): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const folder = join(directory, `${labels.session.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 80)}.${randomBytes(6).toString('hex')}`);
  await mkdir(folder, { mode: 0o700 });
  await writeFile(
    join(folder, LABELS),
    JSON.stringify({ store: labels.store, owner: labels.owner, session: labels.session, expiresAt: labels.expiresAt }),
  );
  return folder;
}

/** Writes down which process keeps the sandbox of this folder alive, so that whoever removes the folder can end it first. */
export async function writeKeeper(folder: string, keeper: Owner): Promise<void> {
  await writeFile(join(folder, KEEPER), ownerText(keeper));
}

/** Null where none was started, or it is gone. */
export async function keeperOf(folder: string): Promise<Owner | null> {
  const owner = parseOwner(await readFile(join(folder, KEEPER), 'utf8').catch(() => ''));
  return owner !== null && isAlive(owner) ? owner : null;
}

/** Folders below `directory` that carry labels; any other is not ours to speak of. */
export async function labelledFolders(directory: string): Promise<OwnedThing[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const found = await Promise.all(names.map((name) => describe(join(directory, name))));
  return found.filter((one) => one !== null);
}

export async function labelsOf(folder: string): Promise<SandboxLabels | null> {
  const text = await readFile(join(folder, LABELS), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return labelFile.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

async function describe(folder: string): Promise<OwnedThing | null> {
  const labels = await labelsOf(folder);
  if (labels === null) return null;
  const made = await stat(folder).catch(() => null);
  return { kind: 'folder', id: folder, labels, bytes: null, createdAt: made?.birthtime.toISOString() ?? null };
}
