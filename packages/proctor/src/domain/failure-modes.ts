import type { EventData } from './events.ts';
import { type Attribution, GRADING_FAILURE_REASONS, type GradingFailureReason } from './verdict.ts';

/** Why a trial did not pass, one sentence each for people. Closed: a mode that is not here is a bug, not a new word. */
export const FAILURE_MODES = {
  wrong_result: 'The verifier ran and the work did not pass.',
  partial_result: 'The reward is above its minimum and below the threshold: some of the work passed.',
  agent_timed_out: 'The agent reached its time limit; what it had done by then did not pass.',
  agent_exited_non_zero: 'The agent ended with an error code, and its work did not pass.',
  agent_not_started: 'The agent program could not be started.',
  agent_error: 'The agent reported an error, and its work did not pass.',
  agent_limit_reached: 'The agent reached a limit of its sandbox (memory, disk, processes), and its work did not pass.',
  reward_missing: 'The verifier ended without publishing a reward.',
  reward_empty: 'The verifier published an empty reward file.',
  reward_unreadable: 'The reward file could not be read as a number.',
  reward_not_finite: 'The verifier published NaN or an infinite number.',
  reward_out_of_range: 'The reward lies outside the range that the task declares.',
  reward_too_large: 'The reward file is larger than a reward can be.',
  no_headline: 'The verifier published several rewards and nothing says which one counts: pass --reward-key.',
  verifier_timed_out: 'The verifier reached its time limit, so whatever it left is no verdict.',
  verifier_killed: 'The verifier was killed, so whatever it left is no verdict.',
  verifier_not_started: 'The verifier program could not be started.',
  tampering: 'The reward file was touched by something other than the verifier.',
  live_processes: 'The verdict depends on processes that the agent left running, and the policy is contest.',
  verifier_infrastructure: 'Engine or host failed while the verifier ran.',
  build_failed: 'The image of the task could not be built.',
  pull_failed: 'The image of the task could not be pulled.',
  provision_failed: 'The sandbox could not be made.',
  healthcheck_failed: 'The sandbox never became healthy.',
  upload_failed: 'Files of the task or agent could not be put into the sandbox.',
  agent_setup_failed: 'Preparing the agent in the sandbox failed.',
  infrastructure: 'Engine, host or connection failed during the trial.',
  interrupted: 'Someone stopped the trial.',
  budget_reached: 'A budget stopped the trial.',
  owner_gone: 'The process that ran the trial ended before the trial did.',
  retention_zero: 'The content that a revision needs was not kept, and is lost.',
  no_verdict: 'The Session ended without a verdict.',
  unsettled: 'The trial has not ended: this is what is known up to now.',
} as const satisfies Record<string, string>;

export type FailureMode = keyof typeof FAILURE_MODES;

export const FAILURE_MODE_NAMES = Object.keys(FAILURE_MODES) as [FailureMode, ...FailureMode[]];

/** What `outcome.settled` may give as its reason; a grading failure gives its own reason. Null = the loop ended by a verdict. */
export const SETTLE_REASONS = {
  ...grading(),
  user: FAILURE_MODES.interrupted,
  budget_reached: FAILURE_MODES.budget_reached,
  owner_gone: FAILURE_MODES.owner_gone,
  retention_zero: FAILURE_MODES.retention_zero,
  sandbox_lost: 'The sandbox was gone before the agent had ended.',
  environment_build: FAILURE_MODES.build_failed,
  environment_pull: FAILURE_MODES.pull_failed,
  environment_provision: FAILURE_MODES.provision_failed,
  environment_healthcheck: FAILURE_MODES.healthcheck_failed,
  environment_upload: FAILURE_MODES.upload_failed,
  environment_agent_setup: FAILURE_MODES.agent_setup_failed,
  environment_verification: FAILURE_MODES.verifier_infrastructure,
  infrastructure: FAILURE_MODES.infrastructure,
} as const satisfies Record<string, string>;

export type SettleReason = keyof typeof SETTLE_REASONS;

/** The sentence for a mode; a code of a newer version is quoted as it stands. */
export function explainFailure(mode: string): string {
  return Object.hasOwn(FAILURE_MODES, mode)
    ? FAILURE_MODES[mode as FailureMode]
    : `Reason \`${mode}\`, which this version has no sentence for.`;
}

type RunFailure = EventData<'run.failed'>['reason'];
type EnvironmentPhase = EventData<'environment.failed'>['phase'];

export const RUN_FAILURE_MODES = {
  timed_out: 'agent_timed_out',
  non_zero_exit: 'agent_exited_non_zero',
  not_started: 'agent_not_started',
  agent_error: 'agent_error',
  limit_reached: 'agent_limit_reached',
  infrastructure: 'infrastructure',
} as const satisfies Record<RunFailure, FailureMode>;

export const ENVIRONMENT_FAILURE_MODES = {
  build: 'build_failed',
  pull: 'pull_failed',
  provision: 'provision_failed',
  healthcheck: 'healthcheck_failed',
  upload: 'upload_failed',
  agent_setup: 'agent_setup_failed',
  verification: 'verifier_infrastructure',
} as const satisfies Record<EnvironmentPhase, FailureMode>;

/** Who a reason speaks of where its event names nobody. Never `agent` for something that the agent cannot have caused. */
export function attributionOf(mode: FailureMode): Attribution {
  return ATTRIBUTION_OF[mode] ?? 'verifier';
}

const ATTRIBUTION_OF: Partial<Record<FailureMode, Attribution>> = {
  wrong_result: 'agent',
  partial_result: 'agent',
  agent_timed_out: 'timeout',
  agent_exited_non_zero: 'agent',
  agent_not_started: 'agent',
  agent_error: 'agent',
  agent_limit_reached: 'agent',
  tampering: 'contaminated',
  live_processes: 'agent',
  no_headline: 'task',
  verifier_infrastructure: 'infrastructure',
  build_failed: 'task',
  pull_failed: 'infrastructure',
  provision_failed: 'infrastructure',
  healthcheck_failed: 'infrastructure',
  upload_failed: 'infrastructure',
  agent_setup_failed: 'infrastructure',
  infrastructure: 'infrastructure',
  interrupted: 'cancelled',
  budget_reached: 'budget',
  owner_gone: 'infrastructure',
  retention_zero: 'infrastructure',
  no_verdict: 'infrastructure',
};

function grading(): Record<GradingFailureReason, string> {
  return Object.fromEntries(GRADING_FAILURE_REASONS.map((reason) => [reason, FAILURE_MODES[reason]])) as Record<
    GradingFailureReason,
    string
  >;
}
