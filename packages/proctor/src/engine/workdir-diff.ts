import { createTwoFilesPatch } from 'diff';
import type { Change, SandboxLease } from '../sandbox.ts';
import { readEntries } from '../system/tar.ts';

const MAX_FILES = 200;
const MAX_FILE_BYTES = 256 * 1024;
const MAX_DIFF_BYTES = 2 * 1024 * 1024;

/** The working directory's changes as a unified diff, bounded; null = this sandbox cannot tell what changed. Files too large or binary are named only. */
export async function workdirDiff(lease: SandboxLease, changes: readonly Change[] | null, workdir: string): Promise<string | null> {
  if (changes === null) return null;
  const inside = changes.filter((change) => change.path.startsWith(`${workdir}/`));
  const parts: string[] = [];
  let bytes = 0;
  for (const change of inside.slice(0, MAX_FILES)) {
    const part = await patch(lease, change, workdir);
    if (part === null) continue;
    if (bytes + part.length > MAX_DIFF_BYTES) {
      parts.push(`# ${change.kind}: ${change.path} (left out: the diff is bounded)\n`);
      continue;
    }
    bytes += part.length;
    parts.push(part);
  }
  if (inside.length > MAX_FILES) parts.push(`# ${inside.length - MAX_FILES} more changed paths are not shown\n`);
  return parts.join('');
}

async function patch(lease: SandboxLease, change: Change, workdir: string): Promise<string | null> {
  const name = change.path.slice(workdir.length + 1);
  const after = change.kind === 'deleted' ? null : await textNow(lease, change.path);
  if (after?.kind === 'directory') return null;
  const before = change.kind === 'added' ? null : ((await lease.original?.(change.path, MAX_FILE_BYTES)) ?? null);
  const beforeText = before === null ? null : asText(before);
  if (change.kind === 'deleted' && beforeText === null) return `# deleted: ${change.path}\n`;
  if (change.kind === 'modified' && beforeText === null) return `# modified: ${change.path} (its original is not text or not at hand)\n`;
  if (after !== null && after.text === null) return `# ${change.kind}: ${change.path} (${after.kind}, ${after.bytes} bytes)\n`;
  const from = change.kind === 'added' ? '/dev/null' : `a/${name}`;
  const to = change.kind === 'deleted' ? '/dev/null' : `b/${name}`;
  return createTwoFilesPatch(from, to, beforeText ?? '', after?.text ?? '', undefined, undefined, { context: 3 }).replace(/^=+\n/, '');
}

async function textNow(lease: SandboxLease, path: string): Promise<{ kind: string; text: string | null; bytes: number } | null> {
  const tar = await lease.sandbox.download(path);
  if (tar === null) return null;
  const [entry] = await readEntries(tar, { maxFileBytes: MAX_FILE_BYTES, maxFiles: 1 });
  if (entry === undefined) return null;
  return { kind: entry.type, text: entry.content === null ? null : asText(entry.content), bytes: entry.size };
}

function asText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
