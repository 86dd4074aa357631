import type { CommandSpec } from '../command.ts';
import { byteSize, duration, notEmpty } from '../values.ts';
import { JSON_OUTPUT, SANDBOX_OPTIONS } from './options.ts';

export const INIT: CommandSpec = {
  name: 'init',
  arguments: '[dir]',
  summary: 'Write a task set of two small tasks that passes proctor check, with a README.',
  details: 'Never overwrites: a folder that holds any of its files is left as it is.',
  examples: [{ says: 'then prove it', line: 'proctor init my-tasks && proctor check my-tasks' }],
  options: [{ flags: '--image <reference>', summary: 'of both tasks (default debian:12-slim)', value: notEmpty }, JSON_OUTPUT],
  load: () => import('../init.ts'),
};

export const DOCTOR: CommandSpec = {
  name: 'doctor',
  summary: 'What this machine has, what is missing with the line that fixes it, and every capability.',
  examples: [{ says: 'for a bug report', line: 'proctor doctor --json' }],
  exits: { 0: 'tasks can run here', 2: 'they cannot: no sandbox is usable, or the store is not writable' },
  options: [JSON_OUTPUT],
  load: () => import('../doctor.ts'),
};

export const GC: CommandSpec = {
  name: 'gc',
  summary: 'Remove what dead owners left, images past use, and kept files by age and size.',
  examples: [
    { says: 'what would go, and how much it holds', line: 'proctor gc --dry-run' },
    { says: 'keep at most 10 GiB of files', line: 'proctor gc --older-than 30d --max-size 10G' },
  ],
  options: [
    { flags: '--dry-run', summary: 'say it, remove nothing' },
    { flags: '--all-stores', summary: 'what other stores left too, where it has expired' },
    { flags: '--older-than <time>', summary: 'unused files older than this (default 30d)', value: duration },
    { flags: '--max-size <size>', summary: 'the oldest unused files beyond this, e.g. 10G', value: byteSize },
    JSON_OUTPUT,
  ],
  load: () => import('../gc.ts'),
};

export const SHELL: CommandSpec = {
  name: 'shell',
  arguments: '<task|session>',
  summary: "An interactive shell in a task's box.",
  examples: [
    { says: 'the box as an agent finds it', line: 'proctor shell ./my-tasks/hello' },
    { says: 'with the verifier and its files in it', line: 'proctor shell ./my-tasks/hello --tests' },
  ],
  options: [
    { flags: '--tests', summary: 'put the verifier files in' },
    { flags: '--solution', summary: 'put the reference solution in' },
    ...SANDBOX_OPTIONS.map((option) => ({ ...option, group: undefined })),
  ],
  load: () => import('../shell.ts'),
};

export const COMPLETION: CommandSpec = {
  name: 'completion',
  arguments: '<shell>',
  summary: 'The completion script of bash, zsh or fish.',
  examples: [
    { says: 'bash', line: 'source <(proctor completion bash)' },
    { says: 'zsh', line: 'proctor completion zsh > "${fpath[1]}/_proctor"' },
    { says: 'fish', line: 'proctor completion fish > ~/.config/fish/completions/proctor.fish' },
  ],
  load: () => import('../completion.ts'),
};

/** Not for people: an experiment starts it beside itself. */
export const JANITOR: CommandSpec = {
  name: 'janitor',
  arguments: '<store> <owner>',
  summary: 'Removes what a dead experiment left. Started by proctor itself.',
  hidden: true,
  load: () => import('../janitor.ts'),
};
