import { mean, standardError, sum } from './statistics.ts';
import { binomialHalfAtMost, logChoose, normalQuantile, tQuantile, tTwoSided } from './statistics-distributions.ts';
import type { Random } from './statistics-random.ts';

export type PairedDifference = {
  difference: number;
  /** Null below two tasks. */
  standard_error: number | null;
  df: number | null;
  t: number | null;
  p: number | null;
  low: number | null;
  high: number | null;
};

/** Mean of per-task differences with its paired standard error. All equal differences have no spread to test against: t and p are null unless 0. */
export function pairedDifference(differences: readonly number[], level = 0.95): PairedDifference | null {
  const difference = mean(differences);
  if (difference === null) return null;
  const error = standardError(differences);
  const df = differences.length - 1;
  if (error === null) return { difference, standard_error: null, df: null, t: null, p: null, low: null, high: null };
  if (error === 0) return { difference, standard_error: 0, df, t: null, p: difference === 0 ? 1 : null, low: null, high: null };
  const t = difference / error;
  const reach = tQuantile((1 + level) / 2, df) * error;
  return { difference, standard_error: error, df, t, p: tTwoSided(t, df), low: difference - reach, high: difference + reach };
}

/** Exact McNemar on discordant counts: `b` tasks pass only in the first lane, `c` only in the second. No discordant pair: p = 1. */
export function mcnemarExact(b: number, c: number): number {
  return Math.min(1, 2 * binomialHalfAtMost(Math.min(b, c), b + c));
}

/** Below this many differing tasks every sign pattern is tried; above, patterns are drawn. */
const EXACT_SIGN_FLIPS = 16;

/** Two-sided sign-flip test of a mean difference of 0. */
export function signFlipTest(differences: readonly number[], options: { draws: number; random: Random }): { p: number; exact: boolean } {
  const moved = differences.filter((difference) => difference !== 0);
  const observed = Math.abs(sum(moved)) - 1e-12;
  if (moved.length <= EXACT_SIGN_FLIPS) {
    const patterns = 2 ** moved.length;
    let extreme = 0;
    for (let pattern = 0; pattern < patterns; pattern += 1) {
      let total = 0;
      for (let bit = 0; bit < moved.length; bit += 1) total += (pattern >> bit) & 1 ? (moved[bit] ?? 0) : -(moved[bit] ?? 0);
      if (Math.abs(total) >= observed) extreme += 1;
    }
    return { p: extreme / patterns, exact: true };
  }
  let extreme = 0;
  for (let draw = 0; draw < options.draws; draw += 1) {
    let total = 0;
    for (const difference of moved) total += options.random() < 0.5 ? difference : -difference;
    if (Math.abs(total) >= observed) extreme += 1;
  }
  return { p: (extreme + 1) / (options.draws + 1), exact: false };
}

/** Two-sided Fisher exact test of two pass counts of one task. */
export function fisherExact(first: { n: number; c: number }, second: { n: number; c: number }): number {
  const passed = first.c + second.c;
  const trials = first.n + second.n;
  const logP = (c: number): number => logChoose(first.n, c) + logChoose(second.n, passed - c) - logChoose(trials, passed);
  const observed = logP(first.c) + 1e-9;
  let p = 0;
  for (let c = Math.max(0, passed - second.n); c <= Math.min(first.n, passed); c += 1) if (logP(c) <= observed) p += Math.exp(logP(c));
  return Math.min(1, p);
}

/** Holm's step-down adjustment, in the order given. */
export function holm(ps: readonly number[]): number[] {
  let largest = 0;
  return stepwise(ps, 'ascending', (p, rank) => {
    largest = Math.max(largest, Math.min(1, (ps.length - rank) * p));
    return largest;
  });
}

/** Benjamini-Hochberg adjustment, in the order given. */
export function benjaminiHochberg(ps: readonly number[]): number[] {
  let smallest = 1;
  return stepwise(ps, 'descending', (p, rank) => {
    smallest = Math.min(smallest, (p * ps.length) / (ps.length - rank));
    return smallest;
  });
}

/** The smallest true difference that `power` of such comparisons would find at `alpha`. */
export function minimumDetectableDifference(standardErrorOfDifference: number, { alpha = 0.05, power = 0.8 } = {}): number {
  return (normalQuantile(1 - alpha / 2) + normalQuantile(power)) * standardErrorOfDifference;
}

function stepwise(ps: readonly number[], order: 'ascending' | 'descending', adjust: (p: number, rank: number) => number): number[] {
  const places = ps.map((p, index) => ({ p, index })).sort((left, right) => (order === 'ascending' ? left.p - right.p : right.p - left.p));
  const adjusted = new Array<number>(ps.length).fill(1);
  for (const [rank, { p, index }] of places.entries()) adjusted[index] = adjust(p, rank);
  return adjusted;
}
