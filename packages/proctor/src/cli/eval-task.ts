import type { CompileResult } from '../task-format.ts';
import type { Call } from './command.ts';
import { printable } from './printable.ts';
import { compileOne } from './task-compiler.ts';
import { issuesText, taskText } from './task-text.ts';

/** `proctor eval task`: compiles one folder and says what it is; creates and runs nothing. */
export async function run({ words, given, terminal }: Call): Promise<number> {
  const result = await compileOne(words[0] ?? '.', {
    format: given.text('format'),
    strictFiles: given.flag('strict-files'),
    materializeLinks: given.flag('materialize-links'),
  });
  if (given.flag('json')) {
    terminal.out(`${JSON.stringify(asJson(result), null, 2)}\n`);
  } else if (result.kind === 'compiled') {
    terminal.out(printable(taskText(result, terminal.paint, { verbose: given.flag('verbose') })));
    if (result.warnings.length > 0) terminal.err(printable(issuesText(result.warnings, terminal.paintErr)));
  } else {
    terminal.err(
      printable(
        `${terminal.paintErr.red('proctor:')} task ${result.name} does not compile:\n${issuesText(result.issues, terminal.paintErr)}`,
      ),
    );
  }
  return result.kind === 'compiled' ? 0 : 2;
}

function asJson(result: CompileResult): unknown {
  if (result.kind === 'compiled') return { task: result.task, account: result.account, warnings: result.warnings };
  const errors = result.issues.filter((issue) => issue.severity === 'error').length;
  return {
    error: {
      code: 'invalid_task',
      message: `task ${result.name} does not compile: ${errors} ${errors === 1 ? 'error' : 'errors'}`,
      details: { task: result.name },
    },
    issues: result.issues,
  };
}
