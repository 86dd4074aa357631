import { expect, test } from 'vitest';
import { ignoredBy } from './ignore-patterns.ts';

test.each<[string, string[], string[]]>([
  ['*.tmp', ['a.tmp', 'b/c.tmp'], ['a.txt', 'tmp']],
  ['/a', ['a', 'a/b'], ['b/a']],
  ['data/', ['data/x', 'b/data/x'], ['data']],
  ['a/b', ['a/b', 'a/b/c'], ['x/a/b']],
  ['**/x/y', ['x/y', 'a/x/y', 'a/b/x/y'], ['x/z']],
  ['a/**', ['a/b', 'a/b/c'], ['a', 'b/a']],
  ['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['az']],
  ['?.sh', ['a.sh'], ['ab.sh', '.sh']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
  ['[!a]x', ['bx'], ['ax']],
  ['# comment\n\n\\#real', ['#real'], ['# comment']],
  ['*\n!keep', ['a', 'b/keep'], ['keep']],
  ['d/\n!d/keep', ['d/keep'], []],
  ['a\\*', ['a*'], ['ab']],
  ['trailing  ', ['trailing'], ['trailing  ']],
  ['[z-a]', [], ['a', 'z']],
])('%j leaves out %j and keeps %j', (pattern, out, kept) => {
  const isIgnored = ignoredBy(new Map([['', pattern]]));
  expect(out.filter((path) => !isIgnored(path))).toEqual([]);
  expect(kept.filter(isIgnored)).toEqual([]);
});

test('an inner file comes after an outer one and speaks of its directory alone', () => {
  const isIgnored = ignoredBy(
    new Map([
      ['', '*.log'],
      ['a', '!keep.log\n/x'],
    ]),
  );
  expect(['a/keep.log', 'keep.log', 'a/x', 'x'].map(isIgnored)).toEqual([false, true, true, false]);
});

test('no pattern takes long', () => {
  const isIgnored = ignoredBy(new Map([['', `${'*a'.repeat(500)}b\n${'**/'.repeat(200)}z`]]));
  const start = performance.now();
  expect(isIgnored('a'.repeat(250))).toBe(false);
  expect(performance.now() - start).toBeLessThan(1000);
});
