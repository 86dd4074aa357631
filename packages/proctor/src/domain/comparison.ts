import { mismatches } from './comparison-mismatch.ts';
import { countByTask, isScored, measurementsOf } from './report-lane.ts';
import type { Comparison } from './report-schema.ts';
import { taskOf } from './report-trials.ts';
import type { SessionSummary } from './session-summary.ts';
import type { TaskCount } from './statistics.ts';
import type { IntervalOptions } from './statistics-intervals.ts';
import {
  benjaminiHochberg,
  fisherExact,
  holm,
  mcnemarExact,
  minimumDetectableDifference,
  pairedDifference,
  signFlipTest,
} from './statistics-paired.ts';

/** One side of a comparison: the current Session of each of its trials. */
export type Side = { label: string; trials: readonly SessionSummary[] };

/** Compares two lanes, or the same lane of two experiments, paired by task. Refuses, with reasons, what is not alike. */
export function compareLanes(baseline: Side, lane: Side, options: IntervalOptions & { allowMismatch: boolean }): Comparison {
  const before = countByTask(baseline.trials.filter(isScored));
  const after = countByTask(lane.trials.filter(isScored));
  const common = [...before.keys()].filter((task) => after.has(task)).sort();
  const everyTask = new Set([...baseline.trials, ...lane.trials].map(taskOf));
  const reasons = mismatches(baseline.trials, lane.trials);
  const nothing = {
    ...{ baseline: baseline.label, lane: lane.label, reasons, level: options.level, tasks: 0, fixed: [], broken: [], same: 0 },
    not_comparable: [...everyTask].filter((task) => !(before.has(task) && after.has(task))).sort(),
    ...{ difference: null, low: null, high: null, standard_error: null, t: null, df: null, p: null, sign_flip: null, mcnemar: null },
    ...{ per_task: [], minimum_detectable_difference: null, distinguishable: false, usage: usageDifference(baseline.trials, lane.trials) },
  };
  if (reasons.length > 0 && !options.allowMismatch) return { ...nothing, status: 'refused' };

  const pairs = common.map((task) => ({ task, baseline: before.get(task) ?? NONE, lane: after.get(task) ?? NONE }));
  const differences = pairs.map((pair) => pair.lane.c / pair.lane.n - pair.baseline.c / pair.baseline.n);
  const paired = pairedDifference(differences, options.level);
  if (paired === null) return { ...nothing, status: 'nothing_in_common' };
  const fixed = pairs.filter((pair) => passes(pair.lane) && !passes(pair.baseline)).map((pair) => pair.task);
  const broken = pairs.filter((pair) => !passes(pair.lane) && passes(pair.baseline)).map((pair) => pair.task);
  const single = pairs.every((pair) => pair.baseline.n === 1 && pair.lane.n === 1);
  const error = paired.standard_error;
  return {
    ...nothing,
    ...paired,
    status: 'compared',
    tasks: pairs.length,
    fixed,
    broken,
    same: pairs.length - fixed.length - broken.length,
    sign_flip: signFlipTest(differences, options),
    mcnemar: single ? { only_baseline: broken.length, only_lane: fixed.length, p: mcnemarExact(broken.length, fixed.length) } : null,
    per_task: perTask(pairs),
    minimum_detectable_difference: error === null || error === 0 ? null : minimumDetectableDifference(error),
    distinguishable: paired.low !== null && paired.high !== null && (paired.low > 0 || paired.high < 0),
  };
}

type Pair = { task: string; baseline: TaskCount; lane: TaskCount };
const NONE: TaskCount = { n: 0, c: 0 };

/** With repetitions a lane passes a task when it passes more than half of its scored trials. */
function passes({ n, c }: TaskCount): boolean {
  return c * 2 > n;
}

function perTask(pairs: readonly Pair[]): Comparison['per_task'] {
  const repeated = pairs.filter((pair) => pair.baseline.n >= 2 && pair.lane.n >= 2);
  const ps = repeated.map((pair) => fisherExact(pair.baseline, pair.lane));
  const holms = holm(ps);
  const hochbergs = benjaminiHochberg(ps);
  return repeated.map((pair, index) => ({
    ...pair,
    p: ps[index] ?? 1,
    holm: holms[index] ?? 1,
    benjamini_hochberg: hochbergs[index] ?? 1,
  }));
}

function usageDifference(baseline: readonly SessionSummary[], lane: readonly SessionSummary[]): Comparison['usage'] {
  const [before, after] = [measurementsOf(baseline), measurementsOf(lane)];
  const tokens = ({ input_tokens, output_tokens }: typeof before) =>
    input_tokens.mean === null || output_tokens.mean === null ? null : input_tokens.mean + output_tokens.mean;
  return {
    tokens_difference: minus(tokens(after), tokens(before)),
    cost_difference_nano_usd: minus(after.cost_nano_usd.mean, before.cost_nano_usd.mean),
    incomplete: before.usage_incomplete + after.usage_incomplete > 0,
  };
}

function minus(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left - right;
}
