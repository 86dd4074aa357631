/** P(Student's t with `df` degrees of freedom is further from 0 than `t`), two-sided. */
export function tTwoSided(t: number, df: number): number {
  return regularizedBeta(df / (df + t * t), df / 2, 0.5);
}

/** The `p` quantile (0 < p < 1) of Student's t: bisection, then it is as exact as the beta function below (about 1e-13). */
export function tQuantile(p: number, df: number): number {
  if (p === 0.5) return 0;
  if (p < 0.5) return -tQuantile(1 - p, df);
  const tail = 2 * (1 - p);
  let low = 0;
  let high = 1;
  while (tTwoSided(high, df) > tail) high *= 2;
  for (let step = 0; step < 200 && high - low > 1e-15 * high; step += 1) {
    const middle = (low + high) / 2;
    if (tTwoSided(middle, df) > tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The `p` quantile of the standard normal: Wichura, Algorithm AS 241 (PPND16). */
export function normalQuantile(p: number): number {
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return (q * polynomial(CENTRE_A, r)) / polynomial(CENTRE_B, r);
  }
  const tail = Math.sqrt(-Math.log(q < 0 ? p : 1 - p));
  const value =
    tail <= 5
      ? polynomial(MIDDLE_C, tail - 1.6) / polynomial(MIDDLE_D, tail - 1.6)
      : polynomial(FAR_E, tail - 5) / polynomial(FAR_F, tail - 5);
  return q < 0 ? -value : value;
}

/** P(Bin(n, ½) ≤ k): exact products while ½ⁿ is a double, logarithms beyond. */
export function binomialHalfAtMost(k: number, n: number): number {
  const last = Math.min(k, n);
  let sum = 0;
  if (n <= 1000) {
    let term = 0.5 ** n;
    for (let i = 0; i <= last; i += 1) {
      sum += term;
      term *= (n - i) / (i + 1);
    }
  } else {
    for (let i = 0; i <= last; i += 1) sum += Math.exp(logChoose(n, i) - n * Math.LN2);
  }
  return Math.min(1, sum);
}

export function logChoose(n: number, k: number): number {
  return logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1);
}

/** Regularized incomplete beta function by its continued fraction (Lentz). */
export function regularizedBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  const value = x > (a + 1) / (a + b + 2) ? 1 - (front * betaFraction(1 - x, b, a)) / b : (front * betaFraction(x, a, b)) / a;
  return Math.min(1, Math.max(0, value));
}

function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1), tiny);
  let result = d;
  for (let m = 1; m <= 1000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / awayFromZero(1 + even * d, tiny);
    c = awayFromZero(1 + even / c, tiny);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / awayFromZero(1 + odd * d, tiny);
    c = awayFromZero(1 + odd / c, tiny);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return result;
}

function awayFromZero(value: number, tiny: number): number {
  return Math.abs(value) < tiny ? tiny : value;
}

/** Lanczos approximation, g = 7, n = 9. */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const shifted = x - 1;
  const base = shifted + 7.5;
  let sum = 0.9999999999998099;
  for (const [index, coefficient] of LANCZOS.entries()) sum += coefficient / (shifted + index + 1);
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(base) - base + Math.log(sum);
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012,
  0.000009984369578019572, 1.5056327351493116e-7,
];
const CENTRE_A = [
  3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987, 67265.7709270087, 33430.57558358813,
  2509.0809287301227,
];
const CENTRE_B = [
  1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271, 28729.085735721943, 5226.495278852854,
];
const MIDDLE_C = [
  1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684, 0.2417807251774506,
  0.022723844989269184, 0.0007745450142783414,
];
const MIDDLE_D = [
  1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457, 0.0005475938084995345,
  1.0507500716444169e-9,
];
const FAR_E = [
  6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124, 0.0012426609473880784,
  0.000027115555687434876, 2.0103343992922881e-7,
];
const FAR_F = [
  1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133, 0.000018463183175100548, 1.421511758316446e-7,
  2.0442631033899397e-15,
];
