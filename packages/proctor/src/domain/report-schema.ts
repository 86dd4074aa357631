import { z } from 'zod';
import { SessionSummarySchema } from './session-summary.ts';
import { ATTRIBUTIONS, FIRMNESS } from './verdict.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const issue = z.looseObject({ severity: z.enum(['error', 'warning']), path: z.string(), message: z.string() });

export const RateSchema = z.strictObject({
  passed: count,
  trials: count,
  /** passed / trials; null without a trial. */
  rate: share.nullable(),
  tasks: count,
  /** Mean of the tasks' rates: each task weighs once. */
  task_rate: share.nullable(),
  interval: z
    .strictObject({
      level: share,
      low: share,
      high: share,
      method: z.enum(['wilson', 'wilson_over_tasks', 'clustered_t']),
      estimate: share,
      weighting: z.enum(['trial', 'task']),
      standard_error: z.number().nullable(),
      mark: z.enum(['conservative', 'this task only']).nullable(),
      bootstrap: z.strictObject({ low: share, high: share, draws: count }).nullable(),
    })
    .nullable(),
});
export type Rate = z.infer<typeof RateSchema>;

/** `n` of `of` Sessions recorded the quantity; total and mean are over these alone, null without any. */
export const MeasurementSchema = z.strictObject({ n: count, of: count, total: z.number().nullable(), mean: z.number().nullable() });
export type Measurement = z.infer<typeof MeasurementSchema>;

export const MeasurementsSchema = z.strictObject({
  iterations: MeasurementSchema,
  input_tokens: MeasurementSchema,
  output_tokens: MeasurementSchema,
  tool_calls: MeasurementSchema,
  active_ms: MeasurementSchema,
  cost_nano_usd: MeasurementSchema,
  build_ms: MeasurementSchema,
  provision_ms: MeasurementSchema,
  agent_setup_ms: MeasurementSchema,
  agent_ms: MeasurementSchema,
  verifier_ms: MeasurementSchema,
  /** Sessions whose tokens and cost are a lower bound. */
  usage_incomplete: count,
});
export type Measurements = z.infer<typeof MeasurementsSchema>;

export const TrialCountsSchema = z.strictObject({
  /** Every trial that counts: with a Session, planned without one, or of a refused task. */
  all: count,
  scored: count,
  passed: count,
  failed: count,
  partial: count,
  unscored: count,
  unsettled: count,
  not_started: count,
  refused: count,
});
export type TrialCounts = z.infer<typeof TrialCountsSchema>;

export const LaneReportSchema = z.strictObject({
  lane: z.string(),
  agent: SessionSummarySchema.shape.agent,
  agent_kind: z.string().nullable(),
  /** More than one: the lane mixes AgentVersions. */
  agent_versions: count,
  max_iterations: z.array(z.int()),
  trials: TrialCountsSchema,
  scored: RateSchema,
  all: RateSchema,
  /** Over `tasks` tasks that have at least one scored trial; k beyond the fewest trials of a task is absent. */
  pass_at_k: z.array(z.strictObject({ k: z.int().min(1), pass_at_k: share, pass_hat_k: share, tasks: count })),
  infrastructure: z.strictObject({ failures: count, of: count, share: share.nullable(), flagged: z.boolean() }),
  isolation_none: z.boolean(),
  measurements: MeasurementsSchema,
});
export type LaneReport = z.infer<typeof LaneReportSchema>;

const cell = z.strictObject({
  repetition: z.int().nullable(),
  result: z.enum(['passed', 'failed', 'partial', 'unscored', 'unsettled', 'not_started']),
  session_id: z.string().nullable(),
  reward: z.number().nullable(),
  attribution: z.enum(ATTRIBUTIONS).nullable(),
  failure_mode: z.string().nullable(),
  firmness: z.enum(FIRMNESS).nullable(),
});

export const TaskReportSchema = z.strictObject({
  task: z.string(),
  tags: z.array(z.string()),
  digests: z.array(z.string()),
  lanes: z.array(z.strictObject({ lane: z.string(), scored: count, passed: count, flaky: z.boolean(), trials: z.array(cell) })),
  flaky: z.boolean(),
  /** Reasons to look at the task itself rather than at the agents. */
  suspect: z.array(z.string()),
});
export type TaskReport = z.infer<typeof TaskReportSchema>;

export const ComparisonSchema = z.strictObject({
  baseline: z.string(),
  lane: z.string(),
  status: z.enum(['compared', 'refused', 'nothing_in_common']),
  /** Why the two are not alike. Non-empty beside `compared` only where a mismatch was allowed: show it as a banner. */
  reasons: z.array(z.strictObject({ code: z.string(), message: z.string(), tasks: z.array(z.string()) })),
  tasks: count,
  not_comparable: z.array(z.string()),
  fixed: z.array(z.string()),
  broken: z.array(z.string()),
  same: count,
  /** lane − baseline: mean over tasks of the difference of their rates. */
  difference: z.number().nullable(),
  level: share,
  low: z.number().nullable(),
  high: z.number().nullable(),
  standard_error: z.number().nullable(),
  t: z.number().nullable(),
  df: z.number().nullable(),
  p: share.nullable(),
  sign_flip: z.strictObject({ p: share, exact: z.boolean() }).nullable(),
  mcnemar: z.strictObject({ only_baseline: count, only_lane: count, p: share }).nullable(),
  /** Only tasks with at least two scored trials in both lanes; p by Fisher's exact test. */
  per_task: z.array(
    z.strictObject({
      task: z.string(),
      baseline: z.strictObject({ n: count, c: count }),
      lane: z.strictObject({ n: count, c: count }),
      p: share,
      holm: share,
      benjamini_hochberg: share,
    }),
  ),
  minimum_detectable_difference: z.number().nullable(),
  /** False: the interval contains 0, so neither may be ranked above the other. */
  distinguishable: z.boolean(),
  usage: z.strictObject({
    tokens_difference: z.number().nullable(),
    cost_difference_nano_usd: z.number().nullable(),
    incomplete: z.boolean(),
  }),
});
export type Comparison = z.infer<typeof ComparisonSchema>;

export const ReportSchema = z.strictObject({
  schema: z.literal('proctor.report/1'),
  title: z.string(),
  experiment: z.string().nullable(),
  generated_at: z.string(),
  exit: z.strictObject({
    code: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3), z.literal(130)]),
    reasons: z.array(z.string()),
  }),
  trials: TrialCountsSchema,
  /** Each Session's last verdict; `none` = no evaluation completed. */
  verdicts: z.strictObject({ satisfied: count, needs_revision: count, grading_failure: count, none: count }),
  /** How the loops ended, beside the verdicts; `none` = not settled, or there was no Outcome. */
  results: z.strictObject({ satisfied: count, max_iterations_reached: count, failed: count, interrupted: count, none: count }),
  /** Bounds in force: every rate holds for these. */
  max_iterations: z.array(z.int()),
  measurements: MeasurementsSchema,
  failure_modes: z.array(z.strictObject({ mode: z.string(), count, sentence: z.string() })),
  attributions: z.array(z.strictObject({ attribution: z.enum(ATTRIBUTIONS), count })),
  tools: z.array(z.strictObject({ tool: z.string(), calls: count, sessions: count })),
  /** Verdicts that hold only with processes the agent left, or that no second verification could confirm. */
  firmness: z.array(z.strictObject({ firmness: z.enum(['live', 'unconfirmed']), count, sessions: z.array(z.string()) })),
  /** Limits that were asked for and that the sandbox could not enforce. */
  not_enforced: z.array(z.strictObject({ limit: z.string(), sessions: count })),
  warnings: z.array(z.strictObject({ code: z.string(), count, sessions: z.array(z.string()), first: z.string() })),
  isolation_none: count,
  lanes: z.array(LaneReportSchema),
  tasks: z.array(TaskReportSchema),
  comparisons: z.array(ComparisonSchema),
  refused: z.array(z.strictObject({ task: z.string(), path: z.string(), issues: z.array(issue) })),
  /** Attempts that a later attempt of the same trial replaced. */
  superseded: z.array(SessionSummarySchema),
  /** Sessions of this experiment that belong to an earlier version of a trial (another agent, task or settings). */
  outdated: count,
  sessions: z.array(SessionSummarySchema),
});
/** Everything a report shows. No renderer computes a number that is not here. */
export type Report = z.infer<typeof ReportSchema>;
