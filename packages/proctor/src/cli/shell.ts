import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { EnvironmentSpecSchema } from '../domain/environment.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import type { Call } from './command.ts';
import { askedEnvironment } from './environment-flags.ts';
import { located } from './eval-task.ts';
import { withClient, withRunning } from './open.ts';
import { compileOne } from './task-compiler.ts';

/** `proctor shell`: a box like the one that an agent gets, with this terminal in it. Leaving it removes it. */
export async function run(call: Call): Promise<number> {
  const [word = ''] = call.words;
  if (!existsSync(word)) throw await notKept(call, word);
  const { given, terminal } = call;
  if (process.stdin.isTTY !== true || !terminal.outIsTty)
    throw new AppError('usage', 'a shell is for a person: expected a terminal on stdin and stdout, found none');
  const found = await compileOne(word, { format: null, strictFiles: false, materializeLinks: false });
  if (found.kind === 'refused') {
    throw new AppError('invalid_task', `task ${found.name} does not compile:`, { details: { issues: located(found.issues, found.path) } });
  }
  const { task } = found;
  if (given.flag('tests') && task.verifier?.files == null)
    throw new AppError('invalid_task', `task ${task.name} has no verifier files to put in: its tests are in the image, or it has none`);
  if (given.flag('solution') && task.solution === null)
    throw new AppError('invalid_task', `task ${task.name} has no reference solution to put in`);
  return withRunning(call, process.cwd(), async (opened) => {
    const stored = given.text('environment');
    const spec = EnvironmentSpecSchema.parse({
      ...(stored === null ? {} : (await opened.client.call('environments.show', { id: stored })).spec),
      ...askedEnvironment(given),
    });
    const { openShell } = await import('../compose/open-shell.ts');
    terminal.err(`Preparing the box of ${terminalLine(task.name)} …\n`);
    await using shell = await openShell(opened.composed, {
      task,
      spec,
      tests: given.flag('tests'),
      solution: given.flag('solution'),
      signal: new AbortController().signal,
    });
    if (shell.argv === null)
      throw new AppError('capability_not_enabled', `the ${shell.provider} sandbox has no way in for a terminal`, {
        details: { capability: 'shell' },
      });
    for (const note of shell.notes) terminal.err(`note: ${terminalLine(note)}\n`);
    const check =
      task.verifier === null
        ? ''
        : ` Its check: ${terminalLine(task.verifier.argv.join(' '))}${given.flag('tests') ? '' : ' (--tests puts its files in)'}.`;
    terminal.err(
      `${shell.provider} sandbox, network ${shell.network}, working directory ${terminalLine(shell.workdir)}.${check} Leaving the shell removes the box.\n`,
    );
    await join(shell.argv);
    return 0;
  });
}

/** Waits until the person leaves. Ctrl-C belongs to the programs inside. */
async function join(argv: readonly string[]): Promise<void> {
  const [program = '', ...args] = argv;
  const ignore = () => {};
  process.on('SIGINT', ignore);
  try {
    const child = spawn(program, args, { stdio: 'inherit' });
    await ended(child, program);
  } finally {
    process.off('SIGINT', ignore);
  }
}

async function ended(child: ChildProcess, program: string): Promise<void> {
  try {
    await once(child, 'exit');
  } catch (cause) {
    throw new AppError(
      'sandbox_unavailable',
      `expected the program ${program} on this host, to join the box with your terminal: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** A Session's sandbox is gone once it ends: what is there instead is told. Errors: not_found when there is no such Session either. */
async function notKept(call: Call, word: string): Promise<AppError> {
  if (!word.startsWith('sesn_'))
    return new AppError('not_found', `expected a task folder or the id of a Session, found nothing at ${word}`);
  const { created } = await withClient(call, (client) => client.call('sessions.show', { session_id: word }));
  const name = created?.task?.name;
  return new AppError(
    'capability_not_enabled',
    `the sandbox of ${word} is gone: this build keeps files of a Session, not its final state. See proctor sessions files ${word}, or open a fresh box of ${name === undefined ? 'its task' : terminalLine(name)}: proctor shell <its folder>`,
    { details: { capability: 'keep_state' } },
  );
}
