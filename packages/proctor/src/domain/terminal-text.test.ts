import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cellWidth, pad, terminalJson, terminalLine, terminalLines, truncate } from './terminal-text.ts';

const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{DI}]/u;
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      '\u001b',
      '[',
      '2J',
      '\u009b',
      '\u202e',
      '\u200b',
      '\ud800',
      '\r',
      '\n',
      '\t',
      '日',
      'a',
      '\u0301',
      '🏳️‍🌈',
      '\u{e0041}',
    ),
  }),
);

test.each([
  ['\u001b[2J\u001b]0;title\u0007', '\\x1b[2J\\x1b]0;title\\x07'],
  ['\u009b31m', '\\x9b31m'],
  ['invoice\u202efdp.exe', 'invoice\\u202efdp.exe'],
  ['pass\u200bed', 'pass\\u200bed'],
  ['a\u2066b\u2069', 'a\\u2066b\\u2069'],
  ['tag\u{e0041}', 'tag\\u{e0041}'],
  ['a\r\nb\nc\rd', 'a ⏎ b ⏎ c ⏎ d'],
  ['a\tb', 'a  b'],
  ['\ud800x', '\ufffdx'],
  ['plain — text, 日本語 é', 'plain — text, 日本語 é'],
])('%j is shown as %j', (text, shown) => {
  expect(terminalLine(text)).toBe(shown);
});

test('no character of any text acts on a terminal, and doing it twice changes nothing', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = terminalLine(text);
      expect(shown).not.toMatch(ACTING);
      expect(terminalLine(shown)).toBe(shown);
      expect(terminalLines(text).split('\n').join('')).not.toMatch(ACTING);
    }),
    { numRuns: 500 },
  );
});

test('marks do not pile up on one letter', () => {
  expect(terminalLine(`e${'\u0301'.repeat(50)}`)).toBe(`e${'\u0301'.repeat(3)}`);
});

describe('JSON', () => {
  test('parses to the same value, and nothing in it acts on a terminal', () => {
    fc.assert(
      fc.property(fc.jsonValue(), hostile, (value, text) => {
        const safe = terminalJson(JSON.stringify({ value, [text]: text }, null, 2));
        expect(JSON.parse(safe)).toEqual(JSON.parse(JSON.stringify({ value, [text]: text })));
        expect(safe.replaceAll('\n', '')).not.toMatch(ACTING);
      }),
      { numRuns: 300 },
    );
  });
});

describe('width', () => {
  test.each([
    ['abc', 3],
    ['日本', 4],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['e\u0301', 1],
    ['🎉', 2],
    ['\u001b[31mred\u001b[39m', 3],
  ])('%j takes %d cells', (text, cells) => {
    expect(cellWidth(text)).toBe(cells);
  });

  test('a cut text fits, and never holds half a wide character', () => {
    expect(truncate('日本語', 5)).toBe('日本…');
    expect(truncate('日本語', 4)).toBe('日…');
    expect(truncate('abc', 3)).toBe('abc');
    fc.assert(
      fc.property(hostile, fc.integer({ min: 0, max: 20 }), (text, columns) => {
        const safe = terminalLine(text);
        expect(cellWidth(truncate(safe, columns))).toBeLessThanOrEqual(columns);
        expect(cellWidth(pad(truncate(safe, columns), columns))).toBe(columns);
      }),
      { numRuns: 300 },
    );
  });
});
