import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import vectors from '../../../../fixtures/statistics/vectors.json' with { type: 'json' };
import {
  clusteredStandardError,
  mean,
  overTasks,
  passAtK,
  passHatK,
  standardDeviation,
  standardError,
  type TaskCount,
} from './statistics.ts';
import { logGamma, normalQuantile, regularizedBeta, tQuantile, tTwoSided } from './statistics-distributions.ts';
import { bootstrapRate, rateInterval, wilson } from './statistics-intervals.ts';
import {
  benjaminiHochberg,
  fisherExact,
  holm,
  mcnemarExact,
  minimumDetectableDifference,
  pairedDifference,
  signFlipTest,
} from './statistics-paired.ts';
import { seededRandom } from './statistics-random.ts';

const close = (found: number | null, expected: number, tolerance = 1e-9): void => {
  expect(found).not.toBeNull();
  expect(Math.abs((found as number) - expected), `${found} against ${expected}`).toBeLessThanOrEqual(tolerance);
};
const options = { level: 0.95, draws: 10_000, random: seededRandom(1) };
const fromHistogram = (histogram: readonly number[]): TaskCount[] =>
  histogram.flatMap((tasks, c) => Array.from({ length: tasks }, () => ({ n: 5, c })));

describe('pass@k and pass^k', () => {
  test.each(vectors.passk)('n=$n c=$c k=$k gives the reference values', ({ n, c, k, pass_at_k, pass_hat_k }) => {
    close(passAtK({ n, c }, k), pass_at_k);
    close(passHatK({ n, c }, k), pass_hat_k);
  });

  test('k above n is absent, never 1', () => {
    expect(passAtK({ n: 3, c: 0 }, 5)).toBeNull();
    expect(passHatK({ n: 3, c: 3 }, 5)).toBeNull();
    expect(
      overTasks(
        [
          { n: 5, c: 2 },
          { n: 1, c: 1 },
        ],
        (task) => passAtK(task, 2),
      ),
    ).toBeNull();
  });

  test.each([
    {
      tasks: [0, 5, 2].map((c) => ({ n: 5, c })),
      at: [0.4666666667, 0.5666666667, 0.6333333333, 0.6666666667, 0.6666666667],
      hat: [0.4666666667, 0.3666666667, 0.3333333333, 0.3333333333, 0.3333333333],
    },
    {
      tasks: [
        { n: 5, c: 2 },
        { n: 3, c: 1 },
        { n: 4, c: 4 },
      ],
      at: [0.5777777778, 0.7888888889, 0.9666666667],
      hat: [0.5777777778, 0.3666666667, 0.3333333333],
    },
  ])('a suite is the plain mean over tasks', ({ tasks, at, hat }) => {
    for (const [index, value] of at.entries())
      close(
        overTasks(tasks, (task) => passAtK(task, index + 1)),
        value,
        1e-9,
      );
    for (const [index, value] of hat.entries())
      close(
        overTasks(tasks, (task) => passHatK(task, index + 1)),
        value,
        1e-9,
      );
  });

  test('both are probabilities, pass@k grows and pass^k falls with k', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(300), (n, c) => {
        const task = { n, c: Math.min(c, n) };
        for (let k = 1; k < n; k += 1) {
          const [at, next] = [passAtK(task, k) as number, passAtK(task, k + 1) as number];
          const [hat, after] = [passHatK(task, k) as number, passHatK(task, k + 1) as number];
          expect(at >= -1e-12 && at <= 1 + 1e-12 && next >= at - 1e-12 && hat >= 0 && hat <= 1 && after <= hat + 1e-12).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('standard errors', () => {
  test.each(vectors.real_suites)('$name gives the published accuracy, pass@k and errors', (suite) => {
    const tasks = fromHistogram(suite.hist);
    const scores = tasks.flatMap(({ n, c }) => Array.from({ length: n }, (_, i) => (i < c ? 1 : 0)));
    close(mean(scores), suite.accuracy);
    close(standardError(scores), suite.se_naive);
    close(clusteredStandardError(tasks, { corrected: false }), suite.se_cluster);
    close(clusteredStandardError(tasks, { corrected: true }), suite.se_cluster_corrected);
    for (const [k, value] of Object.entries(suite.pass_at))
      close(
        overTasks(tasks, (task) => passAtK(task, Number(k))),
        value,
      );
    for (const [k, value] of Object.entries(suite.pass_hat))
      close(
        overTasks(tasks, (task) => passHatK(task, Number(k))),
        value,
      );
  });

  test('the clustered example gives mean, plain, clustered and corrected error', () => {
    const { scores, clusters, ...expected } = vectors.clustered;
    const tasks = [...new Set(clusters)].map((cluster) => {
      const own = scores.filter((_, index) => clusters[index] === cluster);
      return { n: own.length, c: own.filter((score) => score === 1).length };
    });
    close(mean(scores), expected.mean);
    close(standardError(scores), expected.se);
    close(standardDeviation(scores), 0.4830458915);
    close(clusteredStandardError(tasks, { corrected: false }), expected.se_cluster);
    close(clusteredStandardError(tasks, { corrected: true }), expected.se_cluster_corrected);
  });

  test('with equal repetitions the corrected form is the error of the task means', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.array(fc.nat(8), { minLength: 2, maxLength: 40 }), (n, passes) => {
        const tasks = passes.map((c) => ({ n, c: Math.min(c, n) }));
        close(clusteredStandardError(tasks, { corrected: true }), standardError(tasks.map((task) => task.c / n)) as number, 1e-12);
      }),
    );
  });

  test('one task has no clustered error', () => {
    expect(clusteredStandardError([{ n: 9, c: 4 }], { corrected: true })).toBeNull();
  });
});

describe('intervals', () => {
  test.each(vectors.wilson95)('Wilson of $c/$n', ({ c, n, lo, hi }) => {
    close(wilson(c / n, n).low, lo);
    close(wilson(c / n, n).high, hi);
  });

  test.each([
    ['opus', [34, 6, 10, 5, 7, 18], 0.3055758398, 0.4894241602],
    ['sonnet', [34, 11, 5, 9, 9, 12], 0.2737310081, 0.4462689919],
    ['qwen', [49, 12, 5, 5, 5, 4], 0.1247803373, 0.2602196628],
  ] as const)('the clustered t interval of %s', (_, histogram, low, high) => {
    const interval = rateInterval(fromHistogram(histogram), options);
    close(interval?.low ?? null, low);
    close(interval?.high ?? null, high);
    expect(interval).toMatchObject({ method: 'clustered_t', weighting: 'trial', mark: null });
  });

  test('one trial each is Wilson over trials', () => {
    const counts = Array.from({ length: 10 }, (_, i) => ({ n: 1, c: i < 7 ? 1 : 0 }));
    expect(rateInterval(counts, options)).toMatchObject({ ...wilson(0.7, 10), method: 'wilson', mark: null, bootstrap: null });
  });

  test('no spread and few tasks are Wilson over tasks, marked conservative', () => {
    const perfect = Array.from({ length: 20 }, () => ({ n: 5, c: 5 }));
    expect(rateInterval(perfect, options)).toMatchObject({ ...wilson(1, 20), method: 'wilson_over_tasks', mark: 'conservative' });
    const few = [0, 5, 2].map((c) => ({ n: 5, c }));
    expect(rateInterval(few, options)).toMatchObject({
      ...wilson(7 / 15, 3),
      method: 'wilson_over_tasks',
      weighting: 'task',
      mark: 'conservative',
    });
  });

  test('one task with repetitions speaks of this task only', () => {
    expect(rateInterval([{ n: 10, c: 7 }], options)).toMatchObject({ ...wilson(0.7, 10), mark: 'this task only' });
  });

  test('no trial, no interval', () => {
    expect(rateInterval([], options)).toBeNull();
    expect(rateInterval([{ n: 0, c: 0 }], options)).toBeNull();
  });

  test('the bootstrap draws whole tasks: the spread of three task means', () => {
    const bounds = bootstrapRate(
      [0, 5, 2].map((c) => ({ n: 5, c })),
      { level: 0.95, draws: 100_000, random: seededRandom(7) },
    );
    close(bounds.low, 0, 0.14);
    close(bounds.high, 1, 0.14);
    const single = bootstrapRate(
      [1, 0, 1, 1, 0, 1, 0, 1, 1, 1].map((c) => ({ n: 1, c })),
      options,
    );
    expect(single).toEqual({ low: 0.4, high: 0.9 + (single.high - 0.9) });
    close(single.high, 0.9, 0.1000001);
  });

  test('the same seed gives the same bootstrap', () => {
    const tasks = fromHistogram([3, 2, 1, 4, 0, 2]);
    const draw = (seed: number) => bootstrapRate(tasks, { level: 0.95, draws: 500, random: seededRandom(seed) });
    expect(draw(3)).toEqual(draw(3));
  });

  test('an interval is inside [0, 1] and holds its own estimate', () => {
    const task = fc.integer({ min: 1, max: 6 }).chain((n) => fc.record({ n: fc.constant(n), c: fc.nat(n) }));
    fc.assert(
      fc.property(fc.array(task, { minLength: 1, maxLength: 30 }), (tasks) => {
        const interval = rateInterval(tasks, { level: 0.95, draws: 50, random: seededRandom(5) });
        expect(interval).not.toBeNull();
        if (interval === null) return;
        expect(interval.low).toBeGreaterThanOrEqual(0);
        expect(interval.high).toBeLessThanOrEqual(1);
        expect(interval.high).toBeGreaterThan(interval.low);
        expect(interval.estimate).toBeGreaterThanOrEqual(interval.low - 1e-12);
        expect(interval.estimate).toBeLessThanOrEqual(interval.high + 1e-12);
      }),
    );
  });
});

describe('distributions', () => {
  test('quantiles are those of the tables', () => {
    close(normalQuantile(0.975), 1.9599639845400545, 1e-14);
    close(normalQuantile(0.8), 0.8416212335729143, 1e-14);
    close(normalQuantile(1e-12), -7.034483825301131, 1e-9);
    close(tQuantile(0.975, 9), 2.2621571628, 1e-10);
    close(tQuantile(0.975, 79), 1.9904502102, 1e-10);
    close(tQuantile(0.975, 1), 12.706204736174694, 1e-9);
    close(tTwoSided(1, 11), 0.3388006962);
    close(logGamma(10), Math.log(362_880), 1e-12);
    close(regularizedBeta(0.5, 2, 2), 0.5, 1e-14);
  });

  test('a t quantile and its tail undo each other', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.501, max: 0.9999, noNaN: true }), fc.integer({ min: 1, max: 2000 }), (p, df) => {
        close(1 - tTwoSided(tQuantile(p, df), df) / 2, p, 1e-10);
      }),
    );
  });

  test('seeded numbers fill [0, 1) evenly', () => {
    const random = seededRandom(42);
    const cells = new Array<number>(10).fill(0);
    for (let i = 0; i < 20_000; i += 1) cells[Math.floor(random() * 10)]! += 1;
    for (const count of cells) expect(Math.abs(count - 2000)).toBeLessThan(200);
  });
});

describe('comparing two lanes', () => {
  const { A, B, ...expected } = vectors.paired;
  const differences = A.map((score, index) => score - (B[index] ?? 0));

  test('the paired example gives difference, error, t, p and the exact tests', () => {
    const paired = pairedDifference(differences);
    close(paired?.difference ?? null, expected.diff);
    close(paired?.standard_error ?? null, expected.se_paired);
    close(paired?.t ?? null, 1);
    close(paired?.p ?? null, 0.3388006962);
    close(mcnemarExact(3, 1), expected.mcnemar_exact);
    close(mcnemarExact(15, 4), 0.0192108154);
    expect(mcnemarExact(0, 0)).toBe(1);
    expect(signFlipTest(differences, { draws: 10, random: seededRandom(1) })).toEqual({ p: 0.625, exact: true });
  });

  test('many differing tasks are sampled, and agree with the t test roughly', () => {
    const many = Array.from({ length: 80 }, (_, i) => (i % 3 === 0 ? -1 : 1) * (1 + (i % 5)) * 0.2);
    const flips = signFlipTest(many, { draws: 10_000, random: seededRandom(9) });
    expect(flips.exact).toBe(false);
    close(flips.p, pairedDifference(many)?.p as number, 0.02);
  });

  test('Holm and Benjamini-Hochberg of the reference list', () => {
    const round = (values: number[]) => values.map((value) => Number(value.toFixed(12)));
    expect(round(holm([0.001, 0.02, 0.03, 0.04]))).toEqual([0.004, 0.06, 0.06, 0.06]);
    expect(round(benjaminiHochberg([0.001, 0.02, 0.03, 0.04]))).toEqual([0.004, 0.04, 0.04, 0.04]);
    expect(round(holm([0.04, 0.001, 0.03, 0.02]))).toEqual([0.06, 0.004, 0.06, 0.06]);
  });

  test('adjusted p values are never below the plain ones, and Holm never below Benjamini-Hochberg', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 }), (ps) => {
        const [h, b] = [holm(ps), benjaminiHochberg(ps)];
        for (const [i, p] of ps.entries()) expect(h[i]! <= 1 && b[i]! >= p - 1e-12 && h[i]! >= b[i]! - 1e-12).toBe(true);
      }),
    );
  });

  test('the minimum detectable difference of 80 tasks with 5 attempts and of 500 with 1', () => {
    close(minimumDetectableDifference(Math.sqrt((1 / 9 + (2 * (1 / 6)) / 5) / 80)), 0.1320679937);
    close(minimumDetectableDifference(Math.sqrt((1 / 9 + 2 * (1 / 6)) / 500)), 0.0835271323);
  });

  test('Fisher is 1 for equal counts and small for opposite ones', () => {
    close(fisherExact({ n: 5, c: 3 }, { n: 5, c: 3 }), 1);
    close(fisherExact({ n: 5, c: 5 }, { n: 5, c: 0 }), 2 / 252);
  });

  test('equal differences have no t, and no tasks no difference', () => {
    expect(pairedDifference([0, 0, 0])).toMatchObject({ difference: 0, t: null, p: 1 });
    expect(pairedDifference([1, 1])).toMatchObject({ difference: 1, t: null, p: null });
    expect(pairedDifference([0.5])).toMatchObject({ standard_error: null, p: null });
    expect(pairedDifference([])).toBeNull();
  });
});
