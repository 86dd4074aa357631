import { describe, expect, test } from 'vitest';
import { after, judge, type VerificationFacts } from './outcome.ts';
import type { RewardReading } from './verdict.ts';

const reward = (value: number): RewardReading => ({
  kind: 'reward',
  reward: value,
  rewards: { reward: value },
  source: 'reward.txt',
  warnings: [],
});
const none: RewardReading = { kind: 'unreadable', reason: 'reward_missing', detail: 'no reward file' };
const facts = (change: Partial<VerificationFacts>): VerificationFacts => ({
  reading: reward(1),
  threshold: 1,
  alive: false,
  policy: 'keep',
  tampering: null,
  second: { kind: 'not_needed' },
  ...change,
});

describe('judge', () => {
  test.each([
    ['a reward at the threshold satisfies', facts({}), 'satisfied', 'clean', null],
    ['a lower reward needs revision', facts({ reading: reward(0.5) }), 'needs_revision', 'clean', null],
    ['a missing reward is no verdict', facts({ reading: none }), 'grading_failure', 'clean', 'reward_missing'],
    [
      'a satisfied verdict that the second verification shares is confirmed',
      facts({ alive: true, second: { kind: 'made', reading: reward(1), missing: [] } }),
      'satisfied',
      'confirmed',
      null,
    ],
    [
      'one that it does not share is live',
      facts({ alive: true, second: { kind: 'made', reading: reward(0), missing: [] } }),
      'satisfied',
      'live',
      null,
    ],
    [
      'one without a second reward is unconfirmed',
      facts({ alive: true, second: { kind: 'made', reading: none, missing: [] } }),
      'satisfied',
      'unconfirmed',
      null,
    ],
    [
      'what could not be copied makes it unconfirmed, never live',
      facts({ alive: true, second: { kind: 'made', reading: reward(0), missing: ['/data'] } }),
      'satisfied',
      'unconfirmed',
      null,
    ],
    [
      'contest turns a live verdict into a grading failure',
      facts({ alive: true, policy: 'contest', second: { kind: 'made', reading: reward(0), missing: [] } }),
      'grading_failure',
      'live',
      'live_processes',
    ],
    [
      'contest leaves a failing verdict alone, or failing agents could leave the denominator',
      facts({ alive: true, policy: 'contest', reading: reward(0) }),
      'needs_revision',
      'unconfirmed',
      null,
    ],
    ['tampering without a second verification is no verdict', facts({ tampering: 'planted' }), 'grading_failure', 'clean', 'tampering'],
    [
      'tampering that the second verification does not confirm is no verdict',
      facts({ tampering: 'planted', second: { kind: 'made', reading: reward(0), missing: [] } }),
      'grading_failure',
      'clean',
      'tampering',
    ],
    [
      'tampering with an agreeing second verification keeps the verdict',
      facts({ tampering: 'planted', second: { kind: 'made', reading: reward(1), missing: [] } }),
      'satisfied',
      'clean',
      null,
    ],
  ])('%s', (_, given, verdict, firmness, failure) => {
    expect(judge(given)).toMatchObject({ verdict, firmness, failure });
  });

  test('a grading failure carries no reward', () => {
    expect(judge(facts({ tampering: 'planted' })).reward).toBeNull();
    expect(judge(facts({ reading: none })).reward).toBeNull();
  });

  test('tampering is attributed to contamination and an unreadable reward to the verifier', () => {
    expect(judge(facts({ tampering: 'planted' })).attribution).toBe('contaminated');
    expect(judge(facts({ reading: none })).attribution).toBe('verifier');
    expect(judge(facts({ reading: { kind: 'unreadable', reason: 'verifier_infrastructure', detail: 'engine gone' } })).attribution).toBe(
      'infrastructure',
    );
  });
});

describe('after', () => {
  test.each([
    ['satisfied', 1, 3, { kind: 'settle', result: 'satisfied' }],
    ['needs_revision', 1, 3, { kind: 'revise' }],
    ['needs_revision', 3, 3, { kind: 'settle', result: 'max_iterations_reached' }],
    ['grading_failure', 1, 3, { kind: 'settle', result: 'failed', reason: 'reward_missing' }],
  ] as const)('%s at iteration %i of %i', (verdict, iteration, bound, expected) => {
    expect(after({ verdict, failure: verdict === 'grading_failure' ? 'reward_missing' : null }, iteration, bound)).toMatchObject(expected);
  });
});
