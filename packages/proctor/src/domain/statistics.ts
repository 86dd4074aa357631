/** One task's scored trials in one lane: `n` of them, `c` of these passed. */
export type TaskCount = { n: number; c: number };

/** P(at least one of k trials drawn without replacement passes): 1 − C(n−c,k)/C(n,k). Null where k > n: it cannot be estimated, and is not 1. */
export function passAtK({ n, c }: TaskCount, k: number): number | null {
  if (k < 1 || k > n) return null;
  if (n - c < k) return 1;
  let missed = 1;
  for (let i = n - c + 1; i <= n; i += 1) missed *= 1 - k / i;
  return 1 - missed;
}

/** P(all k trials drawn without replacement pass): C(c,k)/C(n,k). Null where k > n. */
export function passHatK({ n, c }: TaskCount, k: number): number | null {
  if (k < 1 || k > n) return null;
  let product = 1;
  for (let i = 0; i < k; i += 1) product *= (c - i) / (n - i);
  return c < k ? 0 : product;
}

/** Plain mean over tasks, so that each task weighs once; null as soon as one task cannot give the value. */
export function overTasks(tasks: readonly TaskCount[], value: (task: TaskCount) => number | null): number | null {
  const values = tasks.map(value);
  const known = values.filter((item) => item !== null);
  return known.length === values.length ? mean(known) : null;
}

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : sum(values) / values.length;
}

/** With n − 1; null below two values. */
export function standardDeviation(values: readonly number[]): number | null {
  const centre = mean(values);
  if (centre === null || values.length < 2) return null;
  return Math.sqrt(sum(values.map((value) => (value - centre) ** 2)) / (values.length - 1));
}

/** s/√n; null below two values. */
export function standardError(values: readonly number[]): number | null {
  const deviation = standardDeviation(values);
  return deviation === null ? null : deviation / Math.sqrt(values.length);
}

/**
 * Standard error of the trial-weighted rate when trials of one task go together: √(Σ_tasks (Σ_trials (s − s̄))²)/n, and with `corrected` times
 * √(C/(C−1)), C = tasks. Null below two tasks.
 */
export function clusteredStandardError(tasks: readonly TaskCount[], options: { corrected: boolean }): number | null {
  const trials = sum(tasks.map((task) => task.n));
  if (tasks.length < 2 || trials === 0) return null;
  const rate = sum(tasks.map((task) => task.c)) / trials;
  const raw = Math.sqrt(sum(tasks.map((task) => (task.c - task.n * rate) ** 2))) / trials;
  return options.corrected ? raw * Math.sqrt(tasks.length / (tasks.length - 1)) : raw;
}

/** Type-7 quantile of values in ascending order. */
export function sortedQuantile(sorted: ArrayLike<number>, p: number): number {
  const place = (sorted.length - 1) * p;
  const below = Math.floor(place);
  const low = sorted[below] ?? Number.NaN;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? low;
  return low + (place - below) * (high - low);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
