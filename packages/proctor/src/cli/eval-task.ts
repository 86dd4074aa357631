import { relative } from 'node:path';
import type { Issue } from '../domain/issue.ts';
import { terminalJson, terminalLine } from '../domain/terminal-text.ts';
import type { CompileResult } from '../task-format.ts';
import type { Call } from './command.ts';
import { compileOne } from './task-compiler.ts';
import { issuesText, taskText } from './task-text.ts';

/** `proctor eval task`: compiles one folder and says what it is; creates and runs nothing. */
export async function run({ words, given, terminal }: Call): Promise<number> {
  const result = await compileOne(words[0] ?? '.', {
    format: given.text('format'),
    strictFiles: given.flag('strict-files'),
    materializeLinks: given.flag('materialize-links'),
  });
  const { paintErr } = terminal;
  if (given.flag('json')) {
    terminal.out(`${terminalJson(JSON.stringify(asJson(result), null, 2))}\n`);
  } else if (result.kind === 'compiled') {
    terminal.out(taskText(result, terminal.paint, { verbose: given.flag('verbose') }));
    terminal.err(issuesText(located(result.warnings, result.path), paintErr));
  } else {
    terminal.err(
      `${paintErr.red('proctor:')} task ${terminalLine(result.name)} does not compile:\n${issuesText(located(result.issues, result.path), paintErr)}`,
    );
  }
  return result.kind === 'compiled' ? 0 : 2;
}

/** Places below the task's folder as paths from here, so that an editor opens them; errors first, in the order of the file. */
export function located(issues: readonly Issue[], folder: string): Issue[] {
  const from = relative(process.cwd(), folder);
  const prefix = from === '' || from.startsWith('../../..') ? folder : from;
  return issues
    .map((issue) =>
      issue.place === undefined
        ? issue
        : { ...issue, place: { ...issue.place, file: issue.place.file === '.' ? prefix : `${prefix}/${issue.place.file}` } },
    )
    .sort(
      (left, right) =>
        Number(left.severity === 'warning') - Number(right.severity === 'warning') ||
        (left.place?.file ?? '').localeCompare(right.place?.file ?? '') ||
        (left.place?.line ?? 0) - (right.place?.line ?? 0),
    );
}

function asJson(result: CompileResult): unknown {
  if (result.kind === 'compiled') return { task: result.task, account: result.account, warnings: result.warnings };
  const errors = result.issues.filter((issue) => issue.severity === 'error').length;
  const message = `task ${result.name} does not compile: ${errors} ${errors === 1 ? 'error' : 'errors'}`;
  return { error: { code: 'invalid_task', message, details: { task: result.name } }, issues: result.issues, account: result.account ?? [] };
}
