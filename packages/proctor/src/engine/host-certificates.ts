import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '../domain/errors.ts';
import type { TarEntry } from '../system/tar.ts';

const MOST_BYTES = 16 * 2 ** 20;

/** Certificates of the host as they were when this process first asked for them: a file, or a folder's files. */
export type Certificates = {
  real: string;
  /** Unlike any other content's. */
  name: string;
  /** A file has one, without a name. */
  files: { name: string | null; content: Uint8Array }[];
};

/** Reads the host's certificates once, and keeps copies of them that every user of a sandbox may read. */
export class HostCertificates {
  readonly #directory: string;
  readonly #read = new Map<string, Promise<Certificates>>();
  readonly #copies = new Map<string, Promise<string>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws where there are none, or more than belong into every sandbox. */
  read(source: string): Promise<Certificates> {
    const known = this.#read.get(source) ?? read(source);
    this.#read.set(source, known);
    return known;
  }

  /** Host path of a copy that can be mounted: links in it are the files that they lead to. */
  copyOf(certificates: Certificates): Promise<string> {
    const known = this.#copies.get(certificates.name) ?? write(path.join(this.#directory, certificates.name), certificates);
    this.#copies.set(certificates.name, known);
    return known;
  }
}

/** The same as an archive's entries below `target`. */
export function certificateEntries(certificates: Certificates, target: string): TarEntry[] {
  const inside = target.replace(/^\/+/, '');
  const folder = certificates.files[0]?.name === null ? [] : [{ path: inside, type: 'directory' as const, mode: 0o755 }];
  return [
    ...folder,
    ...certificates.files.map(
      ({ name, content }): TarEntry => ({ path: name === null ? inside : `${inside}/${name}`, type: 'file', mode: 0o644, content }),
    ),
  ];
}

async function read(source: string): Promise<Certificates> {
  const real = await realpath(source);
  const names = (await stat(real)).isDirectory() ? (await readdir(real)).sort() : [null];
  const digest = createHash('sha256');
  const files: Certificates['files'] = [];
  let left = MOST_BYTES;
  for (const name of names) {
    const content = await readCertificate(name === null ? real : path.join(real, name), name === null);
    if (content === null) continue;
    left -= content.length;
    if (left < 0)
      throw new AppError('invalid_configuration', `expected at most ${MOST_BYTES / 2 ** 20} MiB of certificates, found more at ${source}`);
    digest.update(`${name ?? ''}\0${content.length}\0`).update(content);
    files.push({ name, content });
  }
  const kind = names[0] === null ? '.pem' : '';
  return { real, name: `certificates-${digest.digest('hex').slice(0, 24)}${kind}`, files };
}

/** Null in a folder for what is no readable file: a folder of its own, or a link that leads nowhere. */
async function readCertificate(file: string, isAlone: boolean): Promise<Uint8Array | null> {
  try {
    return (await stat(file)).isFile() ? await readFile(file) : null;
  } catch (error) {
    if (isAlone) throw error;
    return null;
  }
}

async function write(target: string, certificates: Certificates): Promise<string> {
  const there = await stat(target).then(
    () => true,
    () => false,
  );
  if (there) return target;
  const scratch = `${target}.${process.pid}.${randomBytes(6).toString('hex')}`;
  const isFolder = certificates.files[0]?.name !== null;
  try {
    await mkdir(isFolder ? scratch : path.dirname(scratch), { recursive: true });
    for (const { name, content } of certificates.files) {
      await writeFile(name === null ? scratch : path.join(scratch, name), content, { mode: 0o444 });
    }
    await rename(scratch, target).catch((error: NodeJS.ErrnoException) => {
      // Another process was first with the same content.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return target;
}
