import { terminalLine, truncate } from '../terminal-text.ts';
import type { GradingFailureReason, RewardReading } from '../verdict.ts';

type Unreadable = Extract<RewardReading, { kind: 'unreadable' }>;

/** The text of one file of the verdict directory, or why there is none. */
export function readVerdictFile(files: ReadonlyMap<string, Uint8Array | null>, name: string): { kind: 'text'; text: string } | Unreadable {
  const bytes = files.get(name);
  if (bytes === undefined) return unreadable('reward_missing', `expected ${name} in the verdict directory, found none`);
  if (bytes === null) return unreadable('reward_too_large', `${name} is larger than a reward can be`);
  if (bytes.length === 0) return unreadable('reward_empty', `${name} is empty`);
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return unreadable('reward_unreadable', `expected UTF-8 in ${name}, found other bytes`);
  }
}

export function unreadable(reason: GradingFailureReason, detail: string): Unreadable {
  return { kind: 'unreadable', reason, detail };
}

/** What a verifier wrote, short and in quotes, with nothing in it that acts on a terminal. */
export function quoted(text: string): string {
  return `"${truncate(terminalLine(text.slice(0, 400)), 60)}"`;
}
