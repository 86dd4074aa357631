import { tmpdir } from 'node:os';
import type { CompileParts } from '../compositions/compile-tasks.ts';
import { formats } from '../formats/index.ts';
import { sources } from '../sources/index.ts';

/** What compiling tasks needs, apart from the engine: `eval task` starts without one. */
export function taskParts(): CompileParts {
  return { formats, sources, scratch: tmpdir() };
}
