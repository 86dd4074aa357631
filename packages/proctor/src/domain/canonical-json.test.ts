import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

/** Examples of RFC 8785, section 3.2.2 and appendix B, and its reference implementations' arrays, values and weird vectors. */
test.each<[unknown, string]>([
  [
    {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    },
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  ],
  [
    { '\u20ac': 'Euro', '\r': 'CR', '\ufb33': 'Hebrew', '1': 'One', '\ud83d\ude00': 'Smiley', '\u0080': 'Control', '\u00f6': 'Diaeresis' },
    '{"\\r":"CR","1":"One","\u0080":"Control","\u00f6":"Diaeresis","\u20ac":"Euro","\ud83d\ude00":"Smiley","\ufb33":"Hebrew"}',
  ],
  [{ 10: 1, 9: 2, a: { '': 0 } }, '{"10":1,"9":2,"a":{"":0}}'],
  [[56, { d: true, 10: null, 1: [] }], '[56,{"1":[],"10":null,"d":true}]'],
])('the value %j is written as the standard says', (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test.each<[number, string]>([
  [0, '0'],
  [-0, '0'],
  [5e-324, '5e-324'],
  [-5e-324, '-5e-324'],
  [1.7976931348623157e308, '1.7976931348623157e+308'],
  [9007199254740992, '9007199254740992'],
  [295147905179352830000, '295147905179352830000'],
  [9.999999999999997e22, '9.999999999999997e+22'],
  [1e23, '1e+23'],
  [1e21, '1e+21'],
  [999999999999999900000, '999999999999999900000'],
  [9.999999999999997e-7, '9.999999999999997e-7'],
  [0.000001, '0.000001'],
  [333333333.33333325, '333333333.33333325'],
])('the number %d is written %s', (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

describe('strings', () => {
  test.each<[string, string]>([
    ['\b\t\n\f\r"\\/', '"\\b\\t\\n\\f\\r\\"\\\\/"'],
    ['\u0000\u001f\u007f\u2028', '"\\u0000\\u001f\u007f\u2028"'],
    ['a \ud800 b', '"a \ufffd b"'],
    ['\udfff\ud83d\ude00', '"\ufffd\ud83d\ude00"'],
    ['x'.repeat(100), `"${'x'.repeat(100)}"`],
    [`${'x'.repeat(100)}"\ud800`, `"${'x'.repeat(100)}\\"\ufffd"`],
  ])('%j is escaped no more than needed', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test('keys are sorted as they are written, after lone surrogates are replaced', () => {
    expect(canonicalJson({ '\ud800': 1, '\ue000': 2 })).toBe('{"\ue000":2,"\ufffd":1}');
  });

  test('of keys that become equal the last one stays', () => {
    expect(canonicalJson({ '\ud800': 1, '\ud801': 2, '\ud802': undefined })).toBe('{"\ufffd":2}');
  });
});

test('undefined is left out of an object and is null in an array, holes too', () => {
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
  expect(canonicalJson({ a: undefined, b: [undefined, , 1] })).toBe('{"b":[null,null,1]}');
});

test('a key that names the prototype is a key', () => {
  expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
  expect(canonicalJson(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
});

test.each<[string, unknown]>([
  ['NaN', Number.NaN],
  ['Infinity', [Number.POSITIVE_INFINITY]],
  ['a bigint', 1n],
  ['a function', { call: () => 1 }],
  ['a symbol', Symbol('x')],
  ['undefined alone', undefined],
  ['a date', new Date(0)],
  ['a map', new Map()],
  ['bytes', new Uint8Array(2)],
  ['a boxed number', Object(1)],
])('%s is refused', (_what, value) => {
  expect(() => canonicalJson(value)).toThrow(TypeError);
});

test('the text is JSON of the same value, and does not depend on the order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(canonicalJson(reversed(value))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('many keys are sorted by UTF-16 code unit', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'grapheme' }), { minLength: 17, maxLength: 40 }), (keys) => {
      const text = canonicalJson(Object.fromEntries(keys.map((key) => [key, 0])));
      expect(text).toBe(
        `{${keys
          .sort()
          .map((key) => `${JSON.stringify(key)}:0`)
          .join(',')}}`,
      );
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}
