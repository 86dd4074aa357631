/** What a verifier published. `reward` is inside the range; `rewards` holds every key as published. */
export type RewardReading =
  | { kind: 'reward'; reward: number; rewards: Record<string, number>; source: string; warnings: string[] }
  | { kind: 'unreadable'; reason: GradingFailureReason; detail: string; rewards?: Record<string, number> };

/** Why there is no verdict. Closed list. */
export const GRADING_FAILURE_REASONS = [
  'reward_missing',
  'reward_empty',
  'reward_unreadable',
  'reward_not_finite',
  'reward_out_of_range',
  'reward_too_large',
  'no_headline',
  'verifier_timed_out',
  'verifier_killed',
  'verifier_not_started',
  'tampering',
  'live_processes',
  'verifier_infrastructure',
] as const;
export type GradingFailureReason = (typeof GRADING_FAILURE_REASONS)[number];

export type Verdict = 'satisfied' | 'needs_revision' | 'grading_failure';

export const FIRMNESS = ['clean', 'confirmed', 'live', 'unconfirmed'] as const;
export type Firmness = (typeof FIRMNESS)[number];

export type OutcomeResult = 'satisfied' | 'max_iterations_reached' | 'failed' | 'interrupted';

export type TrialResult = 'passed' | 'failed' | 'partial' | 'unscored';
export const ATTRIBUTIONS = ['agent', 'task', 'verifier', 'infrastructure', 'budget', 'timeout', 'cancelled', 'contaminated'] as const;
export type Attribution = (typeof ATTRIBUTIONS)[number];
