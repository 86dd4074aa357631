import { createHash } from 'node:crypto';
import type { MakeContext } from '../agent.ts';
import type { AgentSpec, KeptFile } from '../domain/agent-version.ts';
import type { FileTree } from '../domain/task.ts';

/** The kept copy of a spec's files, as a tree that can be uploaded. */
export function keptTree(spec: AgentSpec, digest: string, context: Pick<MakeContext, 'filesFor'>): FileTree {
  const files = spec.files.map((file) => ({ ...file, asset: file.bytes > 1024 * 1024 }));
  return { root: context.filesFor(digest), digest, bytes: files.reduce((total, file) => total + file.bytes, 0), files };
}

/** The entries of an AgentSpec for files that are kept. */
export function specFiles(files: readonly KeptFile[]): AgentSpec['files'] {
  return [...files]
    .sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0))
    .map(({ path, mode, content }) => ({
      path,
      sha256: createHash('sha256').update(content).digest('hex'),
      mode,
      bytes: content.byteLength,
    }));
}
