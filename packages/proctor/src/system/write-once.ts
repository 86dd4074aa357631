import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A read-only file `directory/name` with this content, whole or not there; a file that is already there is taken as it is, since its name is its digest. */
export async function writeOnce(directory: string, name: string, content: AsyncIterable<Uint8Array>): Promise<string> {
  const target = path.join(directory, name);
  const there = await access(target).then(
    () => true,
    () => false,
  );
  if (there) return target;
  await mkdir(directory, { recursive: true });
  const scratch = `${target}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    await pipeline(Readable.from(content), createWriteStream(scratch, { mode: 0o444 }));
    await rename(scratch, target);
  } finally {
    await rm(scratch, { force: true });
  }
  return target;
}
