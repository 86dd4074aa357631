import type { Client } from '../api/client.ts';
import type { Composed } from '../compose.ts';
import type { Hash } from '../domain/canonical-json.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import type { Call } from './command.ts';

export type Opened = { client: Client; hash: Hash; composed: Composed };

/** Runs `work` with a client over this call's store, and closes the store whatever happens. */
export async function withClient<T>(call: Pick<Call, 'home'>, work: (client: Client) => Promise<T>): Promise<T> {
  const { compose } = await import('../compose.ts');
  const opened = await compose({ home: call.home, directory: process.cwd(), environment: process.env, janitorArgv: [] });
  try {
    return await work(opened.client);
  } finally {
    await opened.close();
  }
}

/** The same for a command that makes Sessions: what dead owners left is ended first, and a janitor stands by. Agents' paths are below `directory`. */
export async function withRunning<T>(
  call: Pick<Call, 'home' | 'terminal'>,
  directory: string,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const { compose, sha256 } = await import('../compose.ts');
  const janitorArgv = [process.execPath, process.argv[1] ?? '', 'janitor'];
  const opened = await compose({ home: call.home, directory, environment: process.env, janitorArgv });
  try {
    const { interrupted, problems } = await opened.beginRunning();
    if (interrupted.length > 0) {
      call.terminal.err(
        `${interrupted.length} ${interrupted.length === 1 ? 'Session' : 'Sessions'} of a process that is gone: marked interrupted.\n`,
      );
    }
    for (const problem of problems) call.terminal.err(`${call.terminal.paintErr.yellow('warning')}  ${terminalLine(problem)}\n`);
    return await work({ client: opened.client, hash: sha256, composed: opened });
  } finally {
    await opened.close();
  }
}
