import { AppError } from '../domain/errors.ts';
import { tellFailure } from './failure.ts';
import { storeHome } from './home.ts';
import { packageVersion } from './package-version.ts';
import { commandPath, readCommandLine } from './program.ts';
import { ROOT } from './table.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Runs one command line and leaves its exit code in the process. Imports nothing that a command needs: each command is loaded when it is asked for. */
export function main(argv: string[]): void {
  const terminal = openTerminal(process.env, argv.includes('--no-color'));
  const json = argv.includes('--json');
  const fail = (error: unknown) => tellFailure(error, terminal, { json, command: commandPath(argv, ROOT) });
  // Node's own exit code for these is 1, which here means that a verdict is not satisfied.
  process.on('uncaughtException', (error) => process.exit(fail(error)));
  run(argv, terminal).catch(fail).then(leave);
}

async function run(argv: string[], terminal: Terminal): Promise<number> {
  const asked = readCommandLine(argv, ROOT, terminal);
  switch (asked.kind) {
    case 'help':
      return 0;
    case 'version':
      terminal.out(`proctor ${packageVersion()}\nnode    ${process.versions.node}\nstore   ${storeHome(asked.store, process.env)}\n`);
      return 0;
    case 'command': {
      if ((process.env.PROCTOR_URL ?? '') !== '' && asked.name !== 'completion') {
        throw new AppError(
          'capability_not_enabled',
          'PROCTOR_URL is set, and the capability server is absent from this build: unset PROCTOR_URL to run in this process.',
          {
            details: { capability: 'server' },
          },
        );
      }
      const { run: runCommand } = await asked.load();
      const home = storeHome(asked.given.text('store'), process.env);
      return runCommand({ name: asked.name, words: asked.words, given: asked.given, terminal, home });
    }
    default:
      return asked satisfies never;
  }
}

/** Streams drain by themselves; something left open must not keep a finished command alive. */
function leave(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(code), LEFT_OPEN_MS).unref();
}

const LEFT_OPEN_MS = 2000;
