import { posix } from 'node:path';
import { AppError, messageOf } from '../domain/errors.ts';
import type { EventData } from '../domain/events.ts';
import type { Redaction } from '../domain/redaction.ts';
import type { SandboxLease } from '../sandbox.ts';
import type { Store } from '../store.ts';
import { readEntries } from '../system/tar.ts';
import { countedBytes } from './counted-bytes.ts';

const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const MAX_KEPT_TOTAL = 256 * 1024 * 1024;

export type CaptureFrom = { store: Store; lease: SandboxLease; roots: readonly string[]; redaction: Redaction };

type Captured = Omit<EventData<'deliverable.captured'>, 'outcome_id' | 'iteration'>;

/** Refuses a definition whose paths are relative, climb, or lie lexically outside the capture roots. */
export function checkDeliverables(paths: readonly string[], roots: readonly string[]): void {
  for (const path of paths) {
    const climbs = path.split('/').includes('..');
    if (!path.startsWith('/') || climbs || !isWithin(posix.normalize(path), roots)) {
      throw new AppError(
        'invalid_configuration',
        `deliverable ${JSON.stringify(path)}: expected an absolute path without '..' below a capture root (${roots.join(', ')})`,
      );
    }
  }
}

/** Captures each path as it is now. What is missing, leaves the roots or is too large is recorded as that, never skipped. */
export async function captureDeliverables(from: CaptureFrom, paths: readonly string[]): Promise<Captured[]> {
  const captured: Captured[] = [];
  let kept = 0;
  for (const path of paths) {
    try {
      const one = await capture(from, path, MAX_KEPT_TOTAL - kept);
      if (one.state === 'kept') kept += one.bytes ?? 0;
      captured.push(one);
    } catch (error) {
      captured.push({
        path,
        state: 'missing',
        kind: null,
        bytes: null,
        sha256: null,
        mode: null,
        reason: `could not be read: ${messageOf(error)}`,
      });
    }
  }
  return captured;
}

async function capture({ store, lease, roots, redaction }: CaptureFrom, path: string, room: number): Promise<Captured> {
  const nothing = { kind: null, bytes: null, sha256: null, mode: null };
  const real = await lease.sandbox.realPath(path);
  if (real === null) return { path, state: 'missing', ...nothing };
  if (!isWithin(real, roots)) return { path, state: 'refused', ...nothing, reason: `its real path ${real} is outside the capture roots` };
  const tar = await lease.sandbox.download(real);
  if (tar === null) return { path, state: 'missing', ...nothing };
  const bytes = await countedBytes(tar, Math.min(MAX_KEPT_BYTES, room));
  if (bytes.content === null)
    return {
      path,
      state: 'not_retained',
      kind: 'file',
      bytes: bytes.total,
      sha256: bytes.sha256,
      mode: null,
      reason: 'larger than what is kept; the digest is of its archive',
    };
  // A file is kept as it is or not at all: with a part replaced it would no longer be what the agent made.
  if (redaction.active && !Buffer.from(redaction.bytes(bytes.content)).equals(bytes.content)) {
    return { path, state: 'not_retained', ...nothing, reason: 'it holds the value of a granted variable' };
  }
  const entries = await readEntries(bytes.content, { maxFileBytes: MAX_KEPT_BYTES, maxFiles: 100_000 });
  const [first] = entries;
  if (entries.length === 1 && first?.type === 'file' && first.content !== null) {
    const blob = await store.putBlob(first.content);
    return { path, state: 'kept', kind: 'file', bytes: blob.bytes, sha256: blob.sha256, mode: first.mode };
  }
  if (first?.type !== 'directory')
    return { path, state: 'refused', ...nothing, reason: `expected a file or a directory, found ${first?.type ?? 'nothing'}` };
  const blob = await store.putBlob(bytes.content);
  return { path, state: 'kept', kind: 'directory', bytes: blob.bytes, sha256: blob.sha256, mode: first.mode };
}

function isWithin(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || root === '/' || path.startsWith(`${root.replace(/\/+$/, '')}/`));
}
