import type { Store } from '../store.ts';
import type { OutputKeeper } from './output-keeper.ts';

export type KeptOutput = { sha256: string; bytes: number; total_bytes: number; cut: boolean };

/** Keeps a stream's head and tail as a blob; null = the stream had no byte. What a keeper holds was redacted before. */
export async function keepOutput(store: Store, keeper: OutputKeeper): Promise<KeptOutput | null> {
  if (keeper.total === 0) return null;
  const kept = await store.putBlob(keeper.bytes());
  return { ...kept, total_bytes: keeper.total, cut: keeper.cut };
}
