import type { TestCounts } from './test-results.ts';
import type { RewardReading, Verdict } from './verdict.ts';

export const FEEDBACK_BYTES = 16 * 1024;

export type FeedbackFacts = {
  level: 'none' | 'summary' | 'full';
  verdict: Verdict;
  reading: RewardReading | null;
  threshold: number;
  tests: TestCounts | null;
  log: string;
};

/** What the agent may know of a hidden check: at most 16 KiB of UTF-8, head and tail kept, the cut marked. */
export function composeFeedback(facts: FeedbackFacts): string {
  if (facts.verdict === 'satisfied') return 'The work satisfies the check.';
  if (facts.verdict === 'grading_failure') return 'The work could not be graded.';
  if (facts.level === 'none') return 'Not yet.';
  const lines = ['The work does not satisfy the check yet.'];
  if (facts.reading?.kind === 'reward') {
    lines.push(`Reward: ${facts.reading.reward} (needed: ${facts.threshold}).`);
    const parts = Object.entries(facts.reading.rewards);
    if (parts.length > 1) lines.push(...parts.map(([name, value]) => `  ${name}: ${value}`));
  }
  if (facts.tests !== null) {
    lines.push(`Tests: ${facts.tests.passed} of ${facts.tests.total} passed.`);
    lines.push(...facts.tests.failed.slice(0, 50).map((name) => `  failed: ${name}`));
  }
  if (facts.level === 'full' && facts.log.trim() !== '') lines.push('', 'Log of the check:', facts.log);
  return boundUtf8(lines.join('\n'), FEEDBACK_BYTES);
}

/** Head and tail of a text within a number of UTF-8 bytes, never splitting a character. */
export function boundUtf8(text: string, maxBytes: number): string {
  const encoder = new TextEncoder();
  const bytes = encoder.encode(text.toWellFormed());
  if (bytes.length <= maxBytes) return text.toWellFormed();
  const mark = `\n[… ${bytes.length - maxBytes} bytes or more left out …]\n`;
  const half = Math.floor((maxBytes - encoder.encode(mark).length) / 2);
  let headEnd = half;
  while (headEnd > 0 && isContinuation(bytes[headEnd])) headEnd -= 1;
  let tailStart = bytes.length - half;
  while (tailStart < bytes.length && isContinuation(bytes[tailStart])) tailStart += 1;
  const decoder = new TextDecoder();
  return decoder.decode(bytes.subarray(0, headEnd)) + mark + decoder.decode(bytes.subarray(tailStart));
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
