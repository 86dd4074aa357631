import type { EventData } from './events.ts';
import { attributionOf, ENVIRONMENT_FAILURE_MODES, FAILURE_MODE_NAMES, type FailureMode, RUN_FAILURE_MODES } from './failure-modes.ts';
import type { SessionSummary } from './session-summary.ts';

export type OutcomeState = {
  maxIterations: number;
  evaluation: EventData<'outcome.evaluation_completed'> | null;
  settled: EventData<'outcome.settled'> | null;
};

export type TrialFacts = {
  outcomes: readonly OutcomeState[];
  closed: EventData<'session.closed'> | null;
  environmentFailure: EventData<'environment.failed'> | null;
  /** True: there was a sandbox, so that a failure of the platform came later. */
  provisioned: boolean;
  /** Of the last Run; null when it did not fail. */
  runFailure: EventData<'run.failed'> | null;
  budgetReached: boolean;
};

type Conclusion = Pick<
  SessionSummary,
  'settled' | 'outcome_result' | 'settle_reason' | 'trial_result' | 'attribution' | 'failure_mode' | 'failure_detail'
>;

/**
 * How a trial ended. The first outcome that is not satisfied decides: several are satisfied only if all are. A failure of the platform is
 * never a score, and an agent's time-out never leaves the denominator.
 */
export function concludeTrial(facts: TrialFacts): Conclusion {
  const deciding = facts.outcomes.find((outcome) => outcome.settled?.result !== 'satisfied') ?? facts.outcomes.at(-1) ?? null;
  const settled = facts.closed !== null || (facts.outcomes.length > 0 && facts.outcomes.every((outcome) => outcome.settled !== null));
  const base = { settled, outcome_result: deciding?.settled?.result ?? null, settle_reason: deciding?.settled?.reason ?? null };
  const failure = (mode: FailureMode, detail: string | null, attribution: Conclusion['attribution'] = null): Conclusion => ({
    ...base,
    trial_result: 'unscored',
    attribution: attribution ?? deciding?.settled?.attribution ?? attributionOf(mode),
    failure_mode: mode,
    failure_detail: detail,
  });

  if (facts.environmentFailure !== null) {
    const { phase, message, attribution } = facts.environmentFailure;
    if (attribution === 'cancelled') return failure('interrupted', message, attribution);
    return failure(phase === 'provision' && facts.provisioned ? 'infrastructure' : ENVIRONMENT_FAILURE_MODES[phase], message, attribution);
  }
  if (deciding?.settled == null) return unended(facts, failure, base);
  const { evaluation, settled: end } = deciding;
  switch (end.result) {
    case 'satisfied':
      return { ...base, trial_result: 'passed', attribution: null, failure_mode: null, failure_detail: null };
    case 'max_iterations_reached':
      return scored(facts, deciding, base);
    case 'failed': {
      const reason = evaluation?.failure ?? null;
      if (reason !== null) return failure(reason, evaluation?.failure_detail ?? null, evaluation?.attribution ?? null);
      return failure(
        facts.runFailure?.reason === 'infrastructure' ? 'infrastructure' : modeOfReason(end.reason),
        facts.runFailure?.detail ?? null,
      );
    }
    case 'interrupted':
      return failure(facts.budgetReached ? 'budget_reached' : modeOfReason(end.reason), null);
    default:
      return end.result satisfies never;
  }
}

/** No iteration was left and the last verdict was `needs_revision`. */
function scored(
  facts: TrialFacts,
  outcome: OutcomeState,
  base: Pick<Conclusion, 'settled' | 'outcome_result' | 'settle_reason'>,
): Conclusion {
  const evaluation = outcome.evaluation;
  const reward = evaluation?.reward ?? null;
  const minimum = evaluation?.reward_minimum ?? 0;
  const partial = reward !== null && reward > minimum && reward < (evaluation?.pass_threshold ?? Number.POSITIVE_INFINITY);
  const run = facts.runFailure;
  const mode = run !== null ? RUN_FAILURE_MODES[run.reason] : partial ? 'partial_result' : 'wrong_result';
  return {
    ...base,
    trial_result: partial ? 'partial' : 'failed',
    attribution: outcome.settled?.attribution ?? evaluation?.attribution ?? attributionOf(mode),
    failure_mode: mode,
    failure_detail: run?.detail ?? null,
  };
}

function unended(
  facts: TrialFacts,
  failure: (mode: FailureMode, detail: string | null) => Conclusion,
  base: Pick<Conclusion, 'settled' | 'outcome_result' | 'settle_reason'>,
): Conclusion {
  if (facts.closed !== null) {
    const { reason, detail } = facts.closed;
    const modes = { client: 'no_verdict', interrupted: 'interrupted', owner_gone: 'owner_gone', error: 'infrastructure' } as const;
    return reason === 'client' && facts.outcomes.length > 0
      ? failure('interrupted', detail ?? null)
      : failure(modes[reason], detail ?? null);
  }
  return { ...base, trial_result: 'unscored', attribution: null, failure_mode: 'unsettled', failure_detail: null };
}

function modeOfReason(reason: string | null): FailureMode {
  if (reason === 'user') return 'interrupted';
  if (reason === 'sandbox_lost') return 'infrastructure';
  return FAILURE_MODE_NAMES.find((mode) => mode === reason) ?? 'no_verdict';
}
