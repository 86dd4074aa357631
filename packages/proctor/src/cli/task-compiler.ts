import { compileTasks } from '../compositions/compile-tasks.ts';
import { AppError } from '../domain/errors.ts';
import type { CompileResult } from '../task-format.ts';
import { compileParts } from './parts.ts';

export type CompileFlags = { format: string | null; strictFiles: boolean; materializeLinks: boolean };

/** Compiles the one task of a folder. Errors: not_found, no_tasks, usage. */
export async function compileOne(folder: string, { format, strictFiles, materializeLinks }: CompileFlags): Promise<CompileResult> {
  const found = await compileTasks(folder, await compileParts(), { strictFiles, materializeLinks, ...(format === null ? {} : { format }) });
  const paths = [...found.compiled, ...found.refused].map((one) => one.path);
  if (paths.length > 1) {
    throw new AppError('usage', `expected one task folder, found ${paths.length} tasks in ${folder}: name one of them, e.g. ${paths[0]}`);
  }
  const [compiled] = found.compiled;
  if (compiled !== undefined) return { kind: 'compiled', ...compiled };
  const [refused] = found.refused;
  if (refused === undefined) throw new AppError('no_tasks', `no task in ${folder}`);
  return { kind: 'refused', ...refused };
}
