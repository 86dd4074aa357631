import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputKeeper } from './output-keeper.ts';

test('a stream within the bound is kept whole', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 5 }), (chunks) => {
      const keeper = new OutputKeeper(200);
      for (const chunk of chunks) keeper.push(chunk);
      expect(Buffer.from(keeper.bytes())).toEqual(Buffer.concat(chunks));
      expect(keeper.cut).toBe(false);
    }),
  );
});

test('a longer stream keeps its head and its tail, and says how much is missing', () => {
  const keeper = new OutputKeeper(20);
  for (let at = 0; at < 100; at += 1) keeper.push(Buffer.from(String(at % 10)));
  const text = Buffer.from(keeper.bytes()).toString();
  expect(text.startsWith('0123456789')).toBe(true);
  expect(text.endsWith('0123456789')).toBe(true);
  expect(text).toContain('80 bytes left out');
  expect(keeper.cut).toBe(true);
  expect(keeper.total).toBe(100);
});

test('one huge chunk costs no more memory than the bound', () => {
  const keeper = new OutputKeeper(1000);
  keeper.push(Buffer.alloc(10_000_000, 97));
  expect(keeper.bytes().length).toBeLessThan(1100);
});
