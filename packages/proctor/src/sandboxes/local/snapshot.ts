import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../domain/errors.ts';
import type { Snapshot } from '../../sandbox.ts';
import { fed, start, type ToolArgv } from './files.ts';

export type LocalSnapshot = Snapshot & { readonly archive: string };

/** Everything writable of a sandbox as one archive in `folder`, packed and later unpacked inside: no link can lead its reader out. */
export async function packSnapshot(
  tool: ToolArgv,
  folder: string,
  left: readonly string[],
  remove: () => Promise<void>,
): Promise<LocalSnapshot> {
  const archive = join(folder, 'files.tar');
  const excluded = left.map((path) => `--exclude=.${path}`);
  const child = start(
    tool,
    ['tar', '-C', '/', '--sparse', '--numeric-owner', '--anchored', '--no-wildcards', ...excluded, '-cf', '-', '.'],
    false,
  );
  await pipeline(child.stdout, createWriteStream(archive, { flags: 'wx', mode: 0o600 }));
  const code = await child.ended;
  const complaint = child.complaint();
  const missing = complaint.split('\n').flatMap((line) => /^tar: \.(\/.*): (?:Cannot|Warning: Cannot)/.exec(line)?.[1] ?? []);
  if (code > 1 && missing.length === 0)
    throw new AppError('internal', `the sandbox's files could not be copied: ${complaint || `tar ended with ${code}`}`);
  return { id: archive, archive, missing, [Symbol.asyncDispose]: () => remove().catch(() => undefined) };
}

/** Into a sandbox just made, whose own first directories go away: what the copy lacks must be absent. */
export async function unpackSnapshot(tool: ToolArgv, archive: string, left: readonly string[]): Promise<void> {
  const kept = left.flatMap((path) => ['!', '-path', path]);
  await fed(tool, ['sh', '-c', UNPACK, 'sh', ...kept], createReadStream(archive), "the copy of the sandbox's files could not be unpacked");
}

/** Directories that hold a mount stay, as far as it needs them. */
const UNPACK = `
find / -mindepth 1 -maxdepth 1 "$@" -exec rm -rf --one-file-system -- {} + 2>/dev/null
exec tar -C / --no-same-owner --preserve-permissions -xf -
`;
