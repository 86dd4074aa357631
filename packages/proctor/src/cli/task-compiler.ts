import { AppError } from '../domain/errors.ts';
import type { CompileResult } from '../task-format.ts';

export type CompileFlags = { format: string | null; strictFiles: boolean; materializeLinks: boolean };

export async function compileOne(folder: string, _flags: CompileFlags): Promise<CompileResult> {
  throw new AppError('capability_not_enabled', `this build has no task formats yet, so ${folder} cannot be compiled`);
}
