import { clusteredStandardError, mean, sortedQuantile, sum, type TaskCount } from './statistics.ts';
import { normalQuantile, tQuantile } from './statistics-distributions.ts';
import type { Random } from './statistics-random.ts';

export type Bounds = { low: number; high: number };

/** What a rate's interval rests on. Bounds are clipped to [0, 1]. */
export type RateInterval = Bounds & {
  level: number;
  method: 'wilson' | 'wilson_over_tasks' | 'clustered_t';
  /** The value it is an interval of: the pass rate over trials, or the mean of the tasks' rates. */
  estimate: number;
  weighting: 'trial' | 'task';
  /** Null where the method has none. */
  standard_error: number | null;
  /** `conservative`: too few or too equal tasks for the clustered form. `this task only`: says nothing of other tasks. */
  mark: 'conservative' | 'this task only' | null;
  /** A bootstrap over tasks of the same rate, as a cross-check. */
  bootstrap: (Bounds & { draws: number }) | null;
};

/** `draws` 0 leaves the cross-check out. */
export type IntervalOptions = { level: number; draws: number; random: Random };

/** Fewer tasks than this cannot carry a clustered standard error. */
const FEWEST_CLUSTERS = 5;

/** The interval of a pass rate. Null without a trial: nothing was measured. */
export function rateInterval(counts: readonly TaskCount[], { level, draws, random }: IntervalOptions): RateInterval | null {
  const tasks = counts.filter((task) => task.n > 0);
  const trials = sum(tasks.map((task) => task.n));
  if (trials === 0) return null;
  const rate = sum(tasks.map((task) => task.c)) / trials;
  const base = { level, estimate: rate, weighting: 'trial', standard_error: null, mark: null, bootstrap: null } as const;
  if (tasks.every((task) => task.n === 1)) return { ...base, ...wilson(rate, trials, level), method: 'wilson' };
  if (tasks.length === 1) return { ...base, ...wilson(rate, trials, level), method: 'wilson', mark: 'this task only' };

  const bootstrap = draws === 0 ? null : { ...bootstrapRate(tasks, { level, draws, random }), draws };
  const error = clusteredStandardError(tasks, { corrected: true });
  if (error === null || error === 0 || tasks.length < FEWEST_CLUSTERS) {
    const estimate = mean(tasks.map((task) => task.c / task.n)) ?? rate;
    const bounds = wilson(estimate, tasks.length, level);
    return { ...base, ...bounds, estimate, weighting: 'task', method: 'wilson_over_tasks', mark: 'conservative', bootstrap };
  }
  const reach = tQuantile((1 + level) / 2, tasks.length - 1) * error;
  return { ...base, low: clip(rate - reach), high: clip(rate + reach), method: 'clustered_t', standard_error: error, bootstrap };
}

/** Wilson's score interval for a rate `p` of `n`. */
export function wilson(p: number, n: number, level = 0.95): Bounds {
  const z = normalQuantile((1 + level) / 2);
  const scale = 1 + (z * z) / n;
  const centre = (p + (z * z) / (2 * n)) / scale;
  const reach = (z / scale) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return { low: p === 0 ? 0 : clip(centre - reach), high: p === 1 ? 1 : clip(centre + reach) };
}

/** Percentile interval of the trial-weighted rate, whole tasks drawn with replacement. */
export function bootstrapRate(tasks: readonly TaskCount[], { level, draws, random }: IntervalOptions): Bounds {
  const passed = Float64Array.from(tasks, (task) => task.c);
  const trials = Float64Array.from(tasks, (task) => task.n);
  const rates = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw += 1) {
    let c = 0;
    let n = 0;
    for (let i = 0; i < tasks.length; i += 1) {
      const index = Math.floor(random() * tasks.length);
      c += passed[index] ?? 0;
      n += trials[index] ?? 0;
    }
    rates[draw] = c / n;
  }
  rates.sort();
  return { low: sortedQuantile(rates, (1 - level) / 2), high: sortedQuantile(rates, (1 + level) / 2) };
}

function clip(value: number): number {
  return Math.min(1, Math.max(0, value));
}
