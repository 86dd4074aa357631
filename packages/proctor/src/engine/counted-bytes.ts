import { createHash } from 'node:crypto';

/** Reads a stream to its end: all its bytes up to `maxBytes`, beyond them only how many there were and their digest. */
export async function countedBytes(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ content: Uint8Array | null; total: number; sha256: string }> {
  const hash = createHash('sha256');
  let chunks: Uint8Array[] | null = [];
  let total = 0;
  for await (const chunk of source) {
    total += chunk.length;
    hash.update(chunk);
    if (total > maxBytes) chunks = null;
    chunks?.push(chunk);
  }
  return { content: chunks === null ? null : Buffer.concat(chunks), total, sha256: hash.digest('hex') };
}
