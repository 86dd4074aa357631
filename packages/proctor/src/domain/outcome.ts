import type { Attribution, Firmness, GradingFailureReason, OutcomeResult, RewardReading, Verdict } from './verdict.ts';

export type LivePolicy = 'keep' | 'kill' | 'contest';

export type Judgement = {
  verdict: Verdict;
  reward: number | null;
  rewards: Record<string, number> | null;
  firmness: Firmness | null;
  firmnessReason: string | null;
  failure: GradingFailureReason | null;
  failureDetail: string | null;
  attribution: Attribution | null;
};

export type SecondVerification =
  | { kind: 'not_needed' }
  | { kind: 'not_made'; reason: string }
  | { kind: 'made'; reading: RewardReading; missing: readonly string[] };

export type VerificationFacts = {
  reading: RewardReading;
  threshold: number;
  /** Something of the agent was alive while the first verification ran. */
  alive: boolean;
  policy: LivePolicy;
  /** What was planted or rewritten in the verdict directory; null = nothing. */
  tampering: string | null;
  second: SecondVerification;
};

/** The only place where a verifier's evidence becomes a verdict. Absent is never 0. */
export function judge(facts: VerificationFacts): Judgement {
  const first = verdictOf(facts.reading, facts.threshold);
  if (facts.reading.kind === 'unreadable')
    return failure(facts.reading.reason, facts.reading.detail, facts, attributionOf(facts.reading.reason));
  const reading = facts.reading;
  const agreed =
    facts.second.kind === 'made' && facts.second.missing.length === 0 && verdictOf(facts.second.reading, facts.threshold) === first;
  if (facts.tampering !== null && !agreed) return failure('tampering', facts.tampering, facts, 'contaminated');
  const { firmness, reason } = firmnessOf(facts, first);
  if (facts.policy === 'contest' && first === 'satisfied' && (firmness === 'live' || firmness === 'unconfirmed')) {
    return {
      ...failure('live_processes', reason ?? 'the verdict holds only with processes that the agent left running', facts, 'agent'),
      firmness,
      firmnessReason: reason,
    };
  }
  return {
    verdict: first,
    reward: reading.reward,
    rewards: reading.rewards,
    firmness,
    firmnessReason: reason,
    failure: null,
    failureDetail: null,
    attribution: null,
  };
}

export function verdictOf(reading: RewardReading, threshold: number): Verdict {
  if (reading.kind === 'unreadable') return 'grading_failure';
  return reading.reward >= threshold ? 'satisfied' : 'needs_revision';
}

export type Step = { kind: 'revise' } | { kind: 'settle'; result: OutcomeResult; reason: string | null };

/** What follows an evaluation. */
export function after(judgement: Pick<Judgement, 'verdict' | 'failure'>, iteration: number, maxIterations: number): Step {
  if (judgement.verdict === 'satisfied') return { kind: 'settle', result: 'satisfied', reason: null };
  if (judgement.verdict === 'grading_failure')
    return { kind: 'settle', result: 'failed', reason: judgement.failure ?? 'reward_unreadable' };
  if (iteration >= maxIterations) return { kind: 'settle', result: 'max_iterations_reached', reason: null };
  return { kind: 'revise' };
}

function firmnessOf(facts: VerificationFacts, first: Verdict): { firmness: Firmness; reason: string | null } {
  if (!facts.alive) return { firmness: 'clean', reason: null };
  const { second } = facts;
  if (first !== 'satisfied' && second.kind !== 'made')
    return { firmness: 'unconfirmed', reason: 'no second verification: only a satisfied verdict gets one' };
  if (second.kind === 'not_needed') return { firmness: 'unconfirmed', reason: 'no second verification was made' };
  if (second.kind === 'not_made') return { firmness: 'unconfirmed', reason: second.reason };
  if (second.missing.length > 0) return { firmness: 'unconfirmed', reason: `could not be copied: ${second.missing.join(', ')}` };
  if (second.reading.kind === 'unreadable')
    return { firmness: 'unconfirmed', reason: `the second verification published no reward: ${second.reading.detail}` };
  return verdictOf(second.reading, facts.threshold) === first
    ? { firmness: 'confirmed', reason: null }
    : { firmness: 'live', reason: 'holds only with processes that the agent left running' };
}

function failure(reason: GradingFailureReason, detail: string, facts: VerificationFacts, attribution: Attribution): Judgement {
  const rewards = facts.reading.kind === 'reward' ? facts.reading.rewards : (facts.reading.rewards ?? null);
  return {
    verdict: 'grading_failure',
    reward: null,
    rewards,
    firmness: facts.alive ? 'unconfirmed' : 'clean',
    firmnessReason: null,
    failure: reason,
    failureDetail: detail,
    attribution,
  };
}

function attributionOf(reason: GradingFailureReason): Attribution {
  if (reason === 'verifier_infrastructure') return 'infrastructure';
  if (reason === 'tampering') return 'contaminated';
  if (reason === 'live_processes') return 'agent';
  return 'verifier';
}
