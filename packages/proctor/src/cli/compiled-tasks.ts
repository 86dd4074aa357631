import type { CompiledTasks } from '../compositions/compile-tasks.ts';
import type { ExperimentOptions } from '../compositions/eval-experiment.ts';
import { AppError } from '../domain/errors.ts';
import { formatIssue, type Issue } from '../domain/issue.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import type { Call } from './command.ts';
import { located } from './eval-task.ts';
import type { Asked } from './experiment-settings.ts';
import { compileAll } from './task-compiler.ts';

export type Compiled = Pick<ExperimentOptions, 'compiled' | 'refused'> & { argument: string };

/** The tasks of an experiment. Every error of every folder is told; unless bad ones are skipped, one ends the command. Errors: invalid_task, no_tasks. */
export async function compiledFor(call: Pick<Call, 'terminal' | 'given'>, asked: Asked): Promise<Compiled> {
  const settings = asked.settings ?? {};
  const found = await compileAll(typeof asked.tasks === 'string' ? [asked.tasks] : asked.tasks, {
    format: settings.format ?? null,
    strictFiles: settings.strict_files === true,
    materializeLinks: settings.materialize_links === true,
    include: settings.include ?? [],
    exclude: settings.exclude ?? [],
    directory: asked.directory,
  });
  tellAside(call, found);
  const refused = found.refused.map(({ name, path, issues }) => ({ task: name, path, issues }));
  if (refused.length > 0 && settings.skip_invalid !== true) throw wrongTasks(found);
  return { compiled: found.compiled, refused, argument: found.argument };
}

function wrongTasks(found: CompiledTasks): AppError {
  const all = found.compiled.length + found.refused.length;
  const issues: Issue[] = found.refused.flatMap((one) => located(one.issues, one.path));
  const message = `${found.refused.length} of ${all} ${all === 1 ? 'task' : 'tasks'} ${found.refused.length === 1 ? 'does' : 'do'} not compile; nothing was created. Correct them, or run the others with --skip-invalid:`;
  return new AppError('invalid_task', message, {
    details: { refused: found.refused.map(({ name, path }) => ({ task: name, path })), issues },
  });
}

/** Warnings, and folders that look like tasks and are none. */
function tellAside({ terminal, given }: Pick<Call, 'terminal' | 'given'>, found: CompiledTasks): void {
  if (given.flag('json')) return;
  const lines = [
    ...found.compiled.flatMap((one) => located(one.warnings, one.path).map(formatIssue)),
    ...found.rejected.map(({ path, reason }) => `${path} is no task: ${reason}`),
  ];
  for (const line of lines.slice(0, SHOWN)) terminal.err(`${terminal.paintErr.yellow('warning')}  ${terminalLine(line)}\n`);
  if (lines.length > SHOWN)
    terminal.err(`${terminal.paintErr.yellow('warning')}  … and ${lines.length - SHOWN} more: proctor eval task shows those of one task\n`);
}

const SHOWN = 10;
