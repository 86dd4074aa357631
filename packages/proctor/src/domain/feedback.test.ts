import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundUtf8, composeFeedback, FEEDBACK_BYTES, type FeedbackFacts } from './feedback.ts';

const facts: Omit<FeedbackFacts, 'level'> = {
  verdict: 'needs_revision',
  reading: { kind: 'reward', reward: 0.5, rewards: { reward: 0.5 }, source: 'reward.txt', warnings: [] },
  threshold: 1,
  tests: { total: 2, passed: 1, failed: ['test_b'] },
  log: 'secret detail',
};

test('none says only that it is not yet', () => {
  expect(composeFeedback({ ...facts, level: 'none' })).toBe('Not yet.');
});

test('a summary names counts and failing tests and not the log', () => {
  const text = composeFeedback({ ...facts, level: 'summary' });
  expect(text).toContain('1 of 2 passed');
  expect(text).toContain('test_b');
  expect(text).not.toContain('secret detail');
});

test('full feedback stays within its bound whatever the log', () => {
  const text = composeFeedback({ ...facts, tests: null, level: 'full', log: '€'.repeat(100_000) });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(FEEDBACK_BYTES);
  expect(text).toContain('left out');
});

test('a bounded text is valid UTF-8 within the bound, and short texts are untouched', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 80, max: 300 }), (text, bound) => {
      const bounded = boundUtf8(text, bound);
      expect(Buffer.byteLength(bounded)).toBeLessThanOrEqual(bound);
      expect(bounded.isWellFormed()).toBe(true);
      if (Buffer.byteLength(text.toWellFormed()) <= bound) expect(bounded).toBe(text.toWellFormed());
    }),
  );
});
