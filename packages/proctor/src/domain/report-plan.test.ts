import { expect, test } from 'vitest';
import { PackedPlanSchema, packPlan, unpackPlan } from './report-plan.ts';

const trials = ['b', 'a'].flatMap((lane) =>
  ['two', '__proto__'].flatMap((task) => [2, 1].map((repetition) => ({ task, lane, repetition }))),
);

test('a packed plan holds every trial, lanes in their order, whatever the order of the tasks', () => {
  const packed = packPlan(trials);
  expect(packed).toEqual([
    [
      'b',
      [
        ['__proto__', [1, 2]],
        ['two', [1, 2]],
      ],
    ],
    [
      'a',
      [
        ['__proto__', [1, 2]],
        ['two', [1, 2]],
      ],
    ],
  ]);
  expect(PackedPlanSchema.parse(JSON.parse(JSON.stringify(packed)))).toEqual(packed);
  expect(new Set(unpackPlan(packed).map((one) => JSON.stringify(one)))).toEqual(new Set(trials.map((one) => JSON.stringify(one))));
  expect(packPlan([...trials.slice(0, 4).reverse(), ...trials.slice(4)])).toEqual(packed);
});
