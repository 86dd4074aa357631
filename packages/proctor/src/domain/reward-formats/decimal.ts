export type Decimal = { kind: 'number'; value: number; warnings: string[] } | { kind: 'not_finite' } | { kind: 'none' };

/**
 * A number as Python's `float()` reads it, since verifiers are written against runners that call it: surrounding white space, `1_000`, `.5`, `5.`,
 * `1e3`, and the decimal digits of any script. Those of other scripts are accepted because each has exactly one value, so nothing is guessed and
 * the task scores here what it scores elsewhere; a warning says so. Words for infinity and NaN are numbers to Python and never rewards.
 */
export function parseDecimal(text: string): Decimal {
  const trimmed = text.replace(SPACE_BEFORE, '').replace(SPACE_AFTER, '');
  if (trimmed.length === 0 || trimmed.length > LONGEST) return { kind: 'none' };
  const ascii = trimmed.replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
  if (/^[+-]?(inf|infinity|nan)$/i.test(trimmed)) return { kind: 'not_finite' };
  if (!PYTHON_FLOAT.test(ascii)) return { kind: 'none' };
  const value = Number(ascii.replaceAll('_', ''));
  if (!Number.isFinite(value)) return { kind: 'not_finite' };
  return { kind: 'number', value, warnings: ascii === trimmed ? [] : ['the reward is written with digits other than 0 to 9'] };
}

/** Longer than any double needs; keeps the patterns below from working through a megabyte. */
const LONGEST = 4096;

const PYTHON_FLOAT = /^[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?$/;
/** What Python strips: Unicode white space without the byte order mark, and four separators of ASCII. */
const SPACE_BEFORE = /^(?:(?!\ufeff)[\s\u001c-\u001f\u0085])+/;
const SPACE_AFTER = /(?<![\s\u001c-\u001f\u0085])(?:(?!\ufeff)[\s\u001c-\u001f\u0085])+$/;

/** Decimal digits come in unbroken runs from 0 to 9, one run after another. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return (code - first) % 10;
}
