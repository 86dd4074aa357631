import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Client } from '../api/client.ts';
import { type EnvironmentSpec, EnvironmentSpecSchema } from '../domain/environment.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import type { Task } from '../domain/task.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import type { Call } from './command.ts';
import { askedEnvironment } from './environment-flags.ts';
import { located } from './eval-task.ts';
import { withRunning } from './open.ts';
import { compileOne } from './task-compiler.ts';

/** `proctor shell`: a box like the one that an agent gets, or as it left it, with this terminal in it. Leaving it removes it. */
export async function run(call: Call): Promise<number> {
  const [word = ''] = call.words;
  const { given, terminal } = call;
  if (process.stdin.isTTY !== true || !terminal.outIsTty)
    throw new AppError('usage', 'a shell is for a person: expected a terminal on stdin and stdout, found none');
  const found = existsSync(word) ? await boxOfTask(word) : null;
  return withRunning(call, process.cwd(), async (opened) => {
    const { task, session, spec } = found === null ? await boxOfSession(opened.client, word) : { task: found, session: null, spec: null };
    requireFiles(task, given);
    const { openShell } = await import('../compose/open-shell.ts');
    terminal.err(`Preparing the box of ${terminalLine(task.name)} …\n`);
    await using shell = await openShell(opened.composed, {
      task,
      spec: spec ?? (await askedSpec(opened.client, given)),
      session,
      tests: given.flag('tests'),
      solution: given.flag('solution'),
      signal: new AbortController().signal,
    });
    if (shell.argv === null)
      throw new AppError('capability_not_enabled', `the ${shell.provider} sandbox has no way in for a terminal`, {
        details: { capability: 'shell' },
      });
    for (const note of shell.notes) terminal.err(`note: ${terminalLine(note)}\n`);
    terminal.err(
      `${shell.provider} sandbox, network ${shell.network}, working directory ${terminalLine(shell.workdir)}.${checkLine(task, given)} Leaving the shell removes the box.\n`,
    );
    await join(shell.argv);
    return 0;
  });
}

async function boxOfTask(folder: string): Promise<Task> {
  const found = await compileOne(folder, { format: null, strictFiles: false, materializeLinks: false });
  if (found.kind === 'compiled') return found.task;
  throw new AppError('invalid_task', `task ${found.name} does not compile:`, { details: { issues: located(found.issues, found.path) } });
}

/** Errors: not_found when there is no such Session, or it was given no compiled task. */
async function boxOfSession(client: Client, word: string): Promise<{ task: Task; session: string; spec: EnvironmentSpec }> {
  if (!word.startsWith('sesn_')) throw new AppError('not_found', `expected a task folder or the id of a Session, found nothing at ${word}`);
  const { created } = await client.call('sessions.show', { session_id: word });
  const content = created?.task == null ? null : await client.blob(created.task.blob);
  if (created === null || content === null) throw new AppError('not_found', `the task of ${word} is not kept: open its folder instead`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return { task: JSON.parse(Buffer.concat(chunks).toString('utf8')) as Task, session: word, spec: created.environment.spec };
}

async function askedSpec(client: Client, given: Call['given']): Promise<EnvironmentSpec> {
  const stored = given.text('environment');
  return EnvironmentSpecSchema.parse({
    ...(stored === null ? {} : (await client.call('environments.show', { id: stored })).spec),
    ...askedEnvironment(given),
  });
}

function requireFiles(task: Task, given: Call['given']): void {
  if (given.flag('tests') && task.verifier?.files == null)
    throw new AppError('invalid_task', `task ${task.name} has no verifier files to put in: its tests are in the image, or it has none`);
  if (given.flag('solution') && task.solution === null)
    throw new AppError('invalid_task', `task ${task.name} has no reference solution to put in`);
}

function checkLine(task: Task, given: Call['given']): string {
  if (task.verifier === null) return '';
  return ` Its check: ${terminalLine(task.verifier.argv.join(' '))}${given.flag('tests') ? '' : ' (--tests puts its files in)'}.`;
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
