import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { type CompiledTasks, compileTasks, type RefusedTask } from '../compositions/compile-tasks.ts';
import { matchesGlob } from '../compositions/glob.ts';
import { AppError } from '../domain/errors.ts';
import type { CompileResult } from '../task-format.ts';

export type CompileFlags = { format: string | null; strictFiles: boolean; materializeLinks: boolean };

/** Compiles the one task of a folder. Errors: not_found, no_tasks, usage. */
export async function compileOne(folder: string, flags: CompileFlags): Promise<CompileResult & { path: string }> {
  const found = await compile(folder, flags);
  const paths = [...found.compiled, ...found.refused].map((one) => one.path);
  if (paths.length > 1) {
    const example = relative(process.cwd(), paths[0] ?? '');
    throw new AppError('usage', `expected one task folder, found ${paths.length} tasks in ${folder}: name one of them, e.g. ${example}`);
  }
  const [compiled] = found.compiled;
  if (compiled !== undefined) return { kind: 'compiled', ...compiled };
  const [refused] = found.refused;
  if (refused === undefined) throw new AppError('no_tasks', `no task in ${folder}`);
  return { kind: 'refused', ...refused };
}

export type Selection = CompileFlags & { include: readonly string[]; exclude: readonly string[]; directory: string };

/** Every task of several references that the globs leave, each folder once. Errors: not_found, no_tasks, usage. */
export async function compileAll(references: readonly string[], selection: Selection): Promise<CompiledTasks & { argument: string }> {
  const result: CompiledTasks = { compiled: [], refused: [], rejected: [] };
  const seen = new Set<string>();
  const names = new Map<string, string>();
  const kept = (name: string, path: string) => isSelected(name, selection) && !seen.has(path) && seen.add(path) !== undefined;
  const resolved = references.map((one) => (existsSync(resolve(selection.directory, one)) ? resolve(selection.directory, one) : one));
  for (const reference of resolved) {
    const found = await compile(reference, selection);
    result.refused.push(...found.refused.filter((one) => kept(one.name, one.path)));
    result.rejected.push(...found.rejected);
    for (const one of found.compiled.filter(({ task, path }) => kept(task.name, path))) {
      const other = names.get(one.task.name);
      if (other === undefined) result.compiled.push(one);
      else result.refused.push(sameName(one.task.name, one.path, other));
      names.set(one.task.name, other ?? one.path);
    }
  }
  if (result.compiled.length + result.refused.length === 0) {
    throw new AppError(
      'no_tasks',
      `no task of ${references.join(' ')} is left by --include and --exclude: they match a task's name, with * for anything`,
    );
  }
  return { ...result, argument: resolved.join(' ') };
}

async function compile(reference: string, { format, strictFiles, materializeLinks }: CompileFlags): Promise<CompiledTasks> {
  const { taskParts } = await import('../compose/task-parts.ts');
  return compileTasks(reference, taskParts(), { strictFiles, materializeLinks, ...(format === null ? {} : { format }) });
}

function isSelected(name: string, { include, exclude }: Selection): boolean {
  return (include.length === 0 || include.some((glob) => matchesGlob(name, glob))) && !exclude.some((glob) => matchesGlob(name, glob));
}

function sameName(name: string, path: string, other: string): RefusedTask {
  return {
    name,
    path,
    account: [],
    issues: [
      {
        severity: 'error',
        path: 'name',
        message: `another task has the name ${name}`,
        expected: 'a name of its own',
        found: `the name of ${other}`,
      },
    ],
  };
}
