import { AppError, messageOf } from '../domain/errors.ts';
import { formatIssue, type Issue } from '../domain/issue.ts';
import { terminalJson, terminalLines } from '../domain/terminal-text.ts';
import type { Terminal } from './terminal.ts';

/** Says what went wrong, to a person or to a program, and gives the exit code. */
export function tellFailure(error: unknown, terminal: Terminal, options: { json: boolean; command: string | null }): number {
  const known = error instanceof AppError ? error : new AppError('internal', messageOf(error), { cause: error });
  if (options.json) {
    terminal.out(
      `${terminalJson(JSON.stringify({ error: { code: known.code, message: known.message, details: known.details } }, null, 2))}\n`,
    );
    return known.exitCode;
  }
  terminal.err(`${terminal.paintErr.red('proctor:')} ${terminalLines(known.message)}\n`);
  for (const issue of issuesOf(known)) terminal.err(`  ${terminalLines(formatIssue(issue))}\n`);
  if (known.code === 'usage') terminal.err(`See: proctor${options.command === null ? '' : ` ${options.command}`} --help\n`);
  if (known.code === 'internal') {
    const cause = known.cause instanceof Error ? known.cause : known;
    terminal.err(`This is a defect of proctor. Where it happened:\n${terminalLines(cause.stack ?? String(cause))}\n`);
  }
  return known.exitCode;
}

function issuesOf(error: AppError): Issue[] {
  const issues = error.details.issues;
  if (!Array.isArray(issues)) return [];
  return issues.filter((one): one is Issue => typeof one === 'object' && one !== null && 'message' in one && 'path' in one);
}
