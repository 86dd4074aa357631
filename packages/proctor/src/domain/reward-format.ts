import type { RewardReading } from './verdict.ts';

/**
 * Contract: a reward format turns the files of the verdict directory and the verifier's end into a reading. Pure. It must not invent a number:
 * what is absent, unreadable, not finite or out of range is its own variant.
 */
export interface RewardFormat {
  summary: string;
  read(evidence: RewardEvidence): RewardReading;
}

export type RewardEvidence = {
  /** Files of the verdict directory, relative path → bytes (bounded by the caller, `null` = too large to read). */
  files: ReadonlyMap<string, Uint8Array | null>;
  exitCode: number | null;
  range: readonly [number, number];
  /** Names the headline among several rewards; null = `reward`, or the only one. */
  key: string | null;
};
