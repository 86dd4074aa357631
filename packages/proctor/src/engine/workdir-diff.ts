import { createHash } from 'node:crypto';
import { createTwoFilesPatch } from 'diff';
import type { Change, SandboxLease } from '../sandbox.ts';
import { readEntries } from '../system/tar.ts';

const MAX_FILES = 200;
const MAX_FILE_BYTES = 256 * 1024;
const MAX_COMPARED_BYTES = 16 * 1024 * 1024;
const MAX_DIFF_BYTES = 2 * 1024 * 1024;
/** Ours, whatever the working directory: instruction and logs, the check, the solution, the agent's own files. */
const OURS = ['/logs', '/tests', '/solution', '/opt/agent'];

/** A file that the Session began with, beside what its image holds. */
export type GivenFile = { path: string; bytes: number; sha256: string; content(): Uint8Array };

export type WorkdirDiffOptions = {
  /** Null = this sandbox cannot tell what changed. */
  changes: readonly Change[] | null;
  workdir: string;
  /** The task's own files in the working directory: no work of the agent, although the image does not have them. */
  given: readonly GivenFile[];
};

/** The working directory's changes as a unified diff, bounded; null = this sandbox cannot tell what changed. Files too large or binary are named only. */
export async function workdirDiff(lease: SandboxLease, { changes, workdir, given }: WorkdirDiffOptions): Promise<string | null> {
  if (changes === null) return null;
  const prefix = workdir.endsWith('/') ? workdir : `${workdir}/`;
  const inside = candidates(changes, given, prefix);
  const parts: string[] = [];
  let bytes = 0;
  for (const one of inside.slice(0, MAX_FILES)) {
    const part = await patch(lease, one, prefix);
    // A file of the task that is there, as it was, and no change: this sandbox compares with the time after the upload, and lists what is gone, too.
    if (part === null && one.unlisted) break;
    if (part === null) continue;
    if (bytes + part.length > MAX_DIFF_BYTES) {
      parts.push(`# ${one.kind}: ${one.path} (left out: the diff is bounded)\n`);
      continue;
    }
    bytes += part.length;
    parts.push(part);
  }
  if (inside.length > MAX_FILES) parts.push(`# ${inside.length - MAX_FILES} more paths are not shown\n`);
  return parts.join('');
}

type Candidate = { path: string; kind: Change['kind']; given: GivenFile | null; unlisted: boolean };

/** Changed paths, then the task's files without a change: one that is removed leaves no trace beside an image that never had it. */
function candidates(changes: readonly Change[], given: readonly GivenFile[], prefix: string): Candidate[] {
  const givenAt = new Map(given.map((file) => [file.path, file]));
  const listed = new Set(changes.map(({ path }) => path));
  const ours = prefix === '/' ? OURS : [];
  return [
    ...changes
      .filter(({ path }) => path.startsWith(prefix) && !ours.some((our) => path === our || path.startsWith(`${our}/`)))
      .map(({ path, kind }) => ofChange(path, kind, givenAt.get(path) ?? null)),
    ...given
      .filter((file) => !listed.has(file.path))
      .map((file) => ({ path: file.path, kind: 'modified' as const, given: file, unlisted: true })),
  ].sort((a, b) => Number(a.given !== null) - Number(b.given !== null));
}

function ofChange(path: string, kind: Change['kind'], given: GivenFile | null): Candidate {
  return { path, kind: kind === 'added' && given !== null ? 'modified' : kind, given, unlisted: false };
}

async function patch(lease: SandboxLease, candidate: Candidate, prefix: string): Promise<string | null> {
  const { path, given } = candidate;
  const after = candidate.kind === 'deleted' ? null : await fileNow(lease, path, given);
  if (given !== null && after?.sha256 === given.sha256) return null;
  const kind = given !== null && after === null ? 'deleted' : candidate.kind;
  if (after?.kind === 'directory' && given === null) return null;
  const before = kind === 'added' ? null : await contentBefore(lease, candidate);
  const beforeText = before === null ? null : asText(before);
  if (kind === 'deleted' && beforeText === null) return `# deleted: ${path}\n`;
  if (kind === 'modified' && beforeText === null) return `# modified: ${path} (its original is not text or not at hand)\n`;
  if (after !== null && after.text === null) return `# ${kind}: ${path} (${after.kind}, ${after.bytes} bytes)\n`;
  const name = path.slice(prefix.length);
  const from = kind === 'added' ? '/dev/null' : `a/${name}`;
  const to = kind === 'deleted' ? '/dev/null' : `b/${name}`;
  return createTwoFilesPatch(from, to, beforeText ?? '', after?.text ?? '', undefined, undefined, { context: 3 }).replace(/^=+\n/, '');
}

async function contentBefore(lease: SandboxLease, { path, given }: Candidate): Promise<Uint8Array | null> {
  if (given === null) return (await lease.original?.(path, MAX_FILE_BYTES)) ?? null;
  return given.bytes > MAX_FILE_BYTES ? null : given.content();
}

type FileNow = { kind: string; text: string | null; bytes: number; sha256: string | null };

async function fileNow(lease: SandboxLease, path: string, given: GivenFile | null): Promise<FileNow | null> {
  const tar = await lease.sandbox.download(path);
  if (tar === null) return null;
  const maxFileBytes = given === null ? MAX_FILE_BYTES : MAX_COMPARED_BYTES;
  const [entry] = await readEntries(tar, { maxFileBytes, maxFiles: 1 });
  if (entry === undefined) return null;
  const { content } = entry;
  return {
    kind: entry.type,
    text: content === null || content.byteLength > MAX_FILE_BYTES ? null : asText(content),
    bytes: entry.size,
    sha256: content === null || given === null ? null : createHash('sha256').update(content).digest('hex'),
  };
}

function asText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
