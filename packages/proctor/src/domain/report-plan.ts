import { z } from 'zod';
import type { PlannedTrial } from './report-trials.ts';

/** Planned trials as they are kept with an experiment: lane → task → repetitions. */
export const PackedPlanSchema = z.array(z.tuple([z.string(), z.array(z.tuple([z.string(), z.array(z.int())]))]));
export type PackedPlan = z.infer<typeof PackedPlanSchema>;

/** The same trials give the same value in whatever order they were to run; lanes keep theirs. */
export function packPlan(trials: readonly PlannedTrial[]): PackedPlan {
  return [...Map.groupBy(trials, (trial) => trial.lane)].map(([lane, ofLane]) => [
    lane,
    [...Map.groupBy(ofLane, (trial) => trial.task)]
      .map(([task, ofTask]): [string, number[]] => [task, ofTask.map((trial) => trial.repetition).sort((a, b) => a - b)])
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  ]);
}

export function unpackPlan(plan: PackedPlan): PlannedTrial[] {
  return plan.flatMap(([lane, tasks]) =>
    tasks.flatMap(([task, repetitions]) => repetitions.map((repetition) => ({ task, lane, repetition }))),
  );
}
