import type { Change } from '../sandbox.ts';

const TOOL_PLACES = /^\/(?:usr\/(?:local\/)?)?(?:s?bin|lib(?:32|64|exec)?)\//;
const BOOKKEEPING = /\/(?:__pycache__|\.cache)\/|\.pyc$|^\/usr\/lib\/(?:locale|mime)\//;

/** Executables, libraries and interpreter files that were there before and are not any more as they were. */
export function changedTools(changes: readonly Change[] | null): string[] {
  return (changes ?? [])
    .filter((change) => change.kind !== 'added' && TOOL_PLACES.test(change.path) && !BOOKKEEPING.test(change.path))
    .map((change) => change.path);
}
