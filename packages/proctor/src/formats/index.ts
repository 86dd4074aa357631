import type { TaskFormat } from '../task-format.ts';
import { harbor } from './harbor/harbor.ts';

/** Tried in this order: the first marker that a folder holds decides. */
export const formats = {
  harbor,
} satisfies Record<string, TaskFormat>;
