import type { Source } from '../source.ts';
import { directory } from './directory.ts';

/** Tried in this order: the first that accepts a reference reads it. */
export const sources = {
  directory,
} satisfies Record<string, Source>;
