import type { OptionSpec } from '../command.ts';

export const JSON_OUTPUT: OptionSpec = { flags: '--json', summary: 'JSON on stdout, errors too' };

const SANDBOX_GROUP = 'Sandbox:';
export const SANDBOX_OPTIONS: readonly OptionSpec[] = [
  {
    flags: '--environment <name>',
    summary: 'a stored Environment, by name or id; the flags below change it for this call',
    group: SANDBOX_GROUP,
  },
  {
    flags: '--sandbox <kind>',
    summary: 'auto (Docker, else local), docker or local',
    choices: ['auto', 'docker', 'local'],
    group: SANDBOX_GROUP,
  },
  {
    flags: '--isolation <kind>',
    summary: 'none = plain processes of yours, without any isolation; only for tasks that you trust',
    choices: ['default', 'none'],
    group: SANDBOX_GROUP,
  },
  {
    flags: '--network <policy>',
    summary: 'none or public for every task; unset, each task gets what it asks or its format defaults to',
    group: SANDBOX_GROUP,
  },
  { flags: '--ignore-image', summary: 'run a task that names an image without it, on the local sandbox', group: SANDBOX_GROUP },
  { flags: '--image-template <text>', summary: 'a prebuilt image for every task, e.g. ghcr.io/acme/tb/{id}:v1', group: SANDBOX_GROUP },
  { flags: '--no-build', summary: 'use image references only; a task that needs a build is refused', group: SANDBOX_GROUP },
];

const SELECT_GROUP = 'Which tasks:';
export const COMPILE_OPTIONS: readonly OptionSpec[] = [
  { flags: '--format <name>', summary: 'read every folder as this format (else it is detected)', group: SELECT_GROUP },
  { flags: '--strict-files', summary: 'refuse binary files and files above 1 MiB in tests, solution and steps', group: SELECT_GROUP },
  { flags: '--materialize-links', summary: 'copy links that stay inside the task (else every link is refused)', group: SELECT_GROUP },
];
export const SELECT_OPTIONS: readonly OptionSpec[] = [
  { flags: '--include <glob>', summary: 'only tasks whose name matches; may be repeated', repeats: true, group: SELECT_GROUP },
  { flags: '--exclude <glob>', summary: 'no task whose name matches; may be repeated', repeats: true, group: SELECT_GROUP },
  {
    flags: '--skip-invalid',
    summary: 'run the tasks that compile; the others stay in the report, and the exit code is 2',
    group: SELECT_GROUP,
  },
];
