import type { CommandSpec } from './command.ts';
import { CHECK, EVAL } from './table/evaluate.ts';
import { COMPLETION, DOCTOR, GC, INIT, JANITOR, SHELL } from './table/host.ts';
import { AGENTS, ENVIRONMENTS } from './table/records.ts';
import { EXPERIMENTS, REPORT, SESSIONS } from './table/results.ts';

/** Every command, declared. Help, completion and the reference page are made from this; what a command does is loaded when it is asked for. */
export const ROOT: CommandSpec = {
  name: 'proctor',
  summary: 'Run an agent against a benchmark in isolated Sessions and get a verdict that holds.',
  examples: [
    {
      says: 'make two small tasks, prove that they can be passed and failed, and evaluate an agent on them',
      line: 'proctor init my-tasks',
    },
    { says: 'the reference solution must pass, doing nothing must not', line: 'proctor check my-tasks' },
    { says: 'your own program, three times each', line: 'proctor eval experiment my-tasks --agent mine=command:./my-agent.sh --repeat 3' },
    { says: 'what this machine can and cannot do', line: 'proctor doctor' },
  ],
  options: [
    {
      flags: '--store <dir>',
      summary: 'where results are kept (else PROCTOR_HOME, else the data folder of this platform)',
      path: true,
      group: 'Global options:',
    },
    { flags: '--no-color', summary: 'plain text; NO_COLOR and FORCE_COLOR are read too', group: 'Global options:' },
    { flags: '-V, --version', summary: 'this version, the Node that runs it, and the store', group: 'Global options:' },
  ],
  commands: [EVAL, CHECK, INIT, REPORT, EXPERIMENTS, SESSIONS, AGENTS, ENVIRONMENTS, SHELL, DOCTOR, GC, COMPLETION, JANITOR],
};
