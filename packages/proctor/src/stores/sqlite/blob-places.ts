import path from 'node:path';

/** Blobs up to this size live in the database and share its commits; larger ones are files. */
export const INLINE_BYTES = 32_768;
/** How the names of files begin that are still being written. */
export const TEMPORARY = '.writing-';

export function blobFolder(home: string): string {
  return path.join(home, 'blobs');
}

export function blobFile(home: string, sha256: string): string {
  return path.join(blobFolder(home), sha256);
}
