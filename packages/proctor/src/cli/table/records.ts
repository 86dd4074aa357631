import type { CommandSpec } from '../command.ts';
import { byteSize, environmentName, notEmpty, numberAbove, wholeNumber } from '../values.ts';
import { JSON_OUTPUT, SANDBOX_OPTIONS } from './options.ts';

export const AGENTS: CommandSpec = {
  name: 'agents',
  summary: 'Agents: what can be evaluated, and the versions that were.',
  commands: [
    {
      name: 'kinds',
      summary: 'What may follow --agent.',
      examples: [{ says: 'every kind, with an example', line: 'proctor agents kinds' }],
      options: [JSON_OUTPUT],
      load: async () => ({ run: (await import('../agents.ts')).kinds }),
    },
    {
      name: 'create',
      arguments: '<spec>',
      summary: 'Freeze an agent as a version, by digest. The same agent again is the same version.',
      examples: [{ says: 'a program of yours', line: 'proctor agents create command:./my-agent.sh --name mine' }],
      options: [
        { flags: '--name <name>', summary: 'a name for it', value: notEmpty },
        { flags: '--agent-env <name>', summary: 'a host variable that it gets; may be repeated', value: environmentName, repeats: true },
        JSON_OUTPUT,
      ],
      load: async () => ({ run: (await import('../agents.ts')).create }),
    },
    {
      name: 'list',
      summary: 'Every version in the store.',
      examples: [{ says: 'all of them', line: 'proctor agents list' }],
      options: [JSON_OUTPUT],
      load: async () => ({ run: (await import('../agents.ts')).list }),
    },
    {
      name: 'show',
      arguments: '<agent>',
      summary: 'One version: the latest, unless --at names another.',
      examples: [{ says: 'by name', line: 'proctor agents show mine --at 2' }],
      options: [{ flags: '--at <n>', summary: 'this version', value: wholeNumber(1, 1_000_000) }, JSON_OUTPUT],
      load: async () => ({ run: (await import('../agents.ts')).show }),
    },
  ],
};

export const ENVIRONMENTS: CommandSpec = {
  name: 'environments',
  summary: 'Environments: named sandbox postures.',
  commands: [
    {
      name: 'create',
      arguments: '<name>',
      summary: 'Freeze a posture as a version, by digest.',
      examples: [{ says: 'no network, at most 4 GiB', line: 'proctor environments create closed --network none --max-memory 4G' }],
      options: [
        ...SANDBOX_OPTIONS.filter((option) => !option.flags.startsWith('--environment')).map((option) => ({ ...option, group: undefined })),
        { flags: '--cpus <n>', summary: 'for a task that declares none', value: numberAbove(0) },
        { flags: '--memory <size>', summary: 'for a task that declares none, e.g. 2G', value: byteSize },
        { flags: '--pids <n>', summary: 'processes at most', value: wholeNumber(1, 1_000_000) },
        { flags: '--max-cpus <n>', summary: 'the most that a task is granted', value: numberAbove(0) },
        { flags: '--max-memory <size>', summary: 'the most that a task is granted', value: byteSize },
        { flags: '--capture-root <path>', summary: 'deliverables may be captured below it; may be repeated', repeats: true },
        JSON_OUTPUT,
      ],
      load: async () => ({ run: (await import('../environments.ts')).create }),
    },
    {
      name: 'list',
      summary: 'Every version in the store.',
      examples: [{ says: 'all of them', line: 'proctor environments list' }],
      options: [JSON_OUTPUT],
      load: async () => ({ run: (await import('../environments.ts')).list }),
    },
    {
      name: 'show',
      arguments: '<environment>',
      summary: 'One version: the latest, unless --at names another.',
      examples: [{ says: 'by name', line: 'proctor environments show closed' }],
      options: [{ flags: '--at <n>', summary: 'this version', value: wholeNumber(1, 1_000_000) }, JSON_OUTPUT],
      load: async () => ({ run: (await import('../environments.ts')).show }),
    },
  ],
};
