import type { CommandSpec } from '../command.ts';
import { wholeNumber } from '../values.ts';
import { JSON_OUTPUT } from './options.ts';

export const REPORT: CommandSpec = {
  name: 'report',
  arguments: '[experiment]',
  summary: 'The report of an experiment; without a name, of the latest.',
  examples: [
    { says: 'the latest', line: 'proctor report' },
    { says: 'for a CI system', line: 'proctor report nightly --format junit > junit.xml' },
  ],
  exits: { 0: 'every verdict is satisfied', 1: 'some verdicts are not', 3: 'a trial is unsettled or could not be scored' },
  options: [
    {
      flags: '--format <name>',
      summary: 'terminal (default), json, markdown or junit',
      choices: ['terminal', 'json', 'markdown', 'junit'],
    },
    { flags: '--accept-retries', summary: 'a superseded attempt does not make the exit code 3' },
    JSON_OUTPUT,
  ],
  load: () => import('../report.ts'),
};

export const EXPERIMENTS: CommandSpec = {
  name: 'experiments',
  summary: 'Experiments in the store.',
  commands: [
    {
      name: 'list',
      summary: 'Every experiment, latest first.',
      examples: [{ says: 'their names', line: 'proctor experiments list' }],
      options: [JSON_OUTPUT],
      load: async () => ({ run: (await import('../experiments.ts')).list }),
    },
    {
      name: 'show',
      arguments: '<name>',
      summary: 'Its settings and Sessions.',
      examples: [{ says: 'every Session, with its verdict', line: 'proctor experiments show nightly' }],
      options: [JSON_OUTPUT],
      load: async () => ({ run: (await import('../experiments.ts')).show }),
    },
    {
      name: 'delete',
      arguments: '<name>',
      summary: 'Delete its Sessions and their events.',
      examples: [{ says: 'without a question', line: 'proctor experiments delete nightly --yes' }],
      options: [{ flags: '--yes', summary: 'do not ask' }, JSON_OUTPUT],
      load: async () => ({ run: (await import('../experiments.ts')).remove }),
    },
  ],
};

export const SESSIONS: CommandSpec = {
  name: 'sessions',
  summary: 'What happened in one trial: its events, files and diff.',
  commands: [
    {
      name: 'list',
      summary: 'Sessions, newest first.',
      examples: [{ says: 'of one experiment', line: 'proctor sessions list --experiment nightly' }],
      options: [
        { flags: '--experiment <name>', summary: 'of this experiment only' },
        { flags: '--limit <n>', summary: 'at most so many (default 50)', value: wholeNumber(1, 1_000_000) },
        JSON_OUTPUT,
      ],
      load: async () => ({ run: (await import('../sessions.ts')).list }),
    },
    {
      name: 'show',
      arguments: '<session>',
      summary: 'State, frozen agent and environment, verdicts.',
      examples: [{ says: 'why it ended so', line: 'proctor sessions show sesn_01J9' }],
      options: [JSON_OUTPUT],
      load: async () => ({ run: (await import('../sessions.ts')).show }),
    },
    {
      name: 'events',
      arguments: '<session>',
      summary: 'Its log, one event a line.',
      examples: [{ says: 'as it happens', line: 'proctor sessions events sesn_01J9 --follow' }],
      options: [
        { flags: '--after <seq>', summary: 'events after this number', value: wholeNumber(0, Number.MAX_SAFE_INTEGER) },
        { flags: '--type <name>', summary: 'only events of this type; may be repeated', repeats: true },
        { flags: '--follow', summary: 'go on with live events until the Session is closed' },
        { flags: '--json', summary: 'whole events, one JSON object a line' },
      ],
      load: async () => ({ run: (await import('../sessions.ts')).events }),
    },
    {
      name: 'verify',
      arguments: '<session>',
      summary: 'Re-verify the hash chain of its log.',
      examples: [{ says: 'is the evidence as it was written?', line: 'proctor sessions verify sesn_01J9' }],
      exits: { 0: 'the chain holds', 1: 'it does not' },
      options: [JSON_OUTPUT],
      load: async () => ({ run: (await import('../sessions.ts')).verify }),
    },
    {
      name: 'files',
      arguments: '<session>',
      summary: 'What was kept: verifier output, deliverables, the diff.',
      examples: [{ says: 'their names', line: 'proctor sessions files sesn_01J9' }],
      options: [JSON_OUTPUT],
      load: async () => ({ run: (await import('../session-files.ts')).files }),
    },
    {
      name: 'cat',
      arguments: '<session> <path>',
      summary: 'The bytes of one kept file, on stdout.',
      examples: [{ says: 'what the verifier said', line: 'proctor sessions cat sesn_01J9 verifier-1/output.txt' }],
      load: async () => ({ run: (await import('../session-files.ts')).cat }),
    },
    {
      name: 'diff',
      arguments: '<session>',
      summary: 'What changed in the working directory.',
      examples: [{ says: 'what the agent did', line: 'proctor sessions diff sesn_01J9' }],
      load: async () => ({ run: (await import('../session-files.ts')).diff }),
    },
    {
      name: 'close',
      arguments: '<session>',
      summary: 'Close it and remove its sandbox.',
      examples: [{ says: 'one that is left open', line: 'proctor sessions close sesn_01J9' }],
      options: [JSON_OUTPUT],
      load: async () => ({ run: (await import('../sessions.ts')).close }),
    },
  ],
};
