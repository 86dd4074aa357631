import { FIRST } from './001-first.ts';

/** Forward only: entry n makes format n + 1 of a store of format n. A released entry never changes. */
export const MIGRATIONS = [FIRST] satisfies readonly string[];
