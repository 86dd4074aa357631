/** Gives numbers in [0, 1). Dealt by whoever asks for a report, so that the same report comes out twice. */
export type Random = () => number;

/** sfc32, seeded by a number: small, fast, long-period, good enough to resample with; never for secrets. */
export function seededRandom(seed: number): Random {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  const next = (): number => {
    const value = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + value) | 0;
    return (value >>> 0) / 2 ** 32;
  };
  for (let warm = 0; warm < 12; warm += 1) next();
  return next;
}
