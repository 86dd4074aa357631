import type { Redaction } from '../domain/redaction.ts';
import type { Store } from '../store.ts';
import { OutputKeeper } from './output-keeper.ts';

export type KeptOutput = { sha256: string; bytes: number; total_bytes: number; cut: boolean };

/** Keeps a stream's head and tail as a blob; null = the stream had no byte. What a keeper holds was redacted before. */
export async function keepOutput(store: Store, keeper: OutputKeeper): Promise<KeptOutput | null> {
  if (keeper.total === 0) return null;
  const kept = await store.putBlob(keeper.bytes());
  return { ...kept, total_bytes: keeper.total, cut: keeper.cut };
}

/** A log at hand, redacted and bounded like a stream. */
export async function keepText(store: Store, text: string, redaction: Redaction): Promise<KeptOutput | null> {
  const keeper = new OutputKeeper(256 * 1024);
  keeper.push(redaction.bytes(Buffer.from(text)));
  return keepOutput(store, keeper);
}
