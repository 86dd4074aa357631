import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { AgentKind, ResolveContext } from '../agent.ts';
import type { KeptFile } from '../domain/agent-version.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import { ArgvSchema } from './argv.ts';
import { checkedEnvironmentNames, grantedEnvironment } from './granted-environment.ts';
import { keptTree, specFiles } from './kept-tree.ts';

const target = '/opt/agent';
const SettingsSchema = z.strictObject({ argv: ArgvSchema, files_digest: z.string().nullable() });

export const command: AgentKind = {
  summary: `a program: "command:./agent.sh" is uploaded to ${target} and run, 'command:["sh","-c","…"]' is run in the sandbox as it stands`,
  async resolve(rest, context) {
    if (rest === '') {
      throw new AppError(
        'invalid_configuration',
        'command: expected a path or a JSON array after the colon, found nothing: write command:./agent.sh or command:["sh","-c","make"]',
      );
    }
    const environment_names = checkedEnvironmentNames(context.environmentNames, '--agent-env');
    if (rest.startsWith('['))
      return { kind: 'command', settings: { argv: parseArgv(rest), files_digest: null }, files: [], environment_names };
    const file = await readProgram(rest, context);
    const settings = { argv: [`${target}/${file.path}`], files_digest: await context.keepFiles([file]) };
    return { kind: 'command', settings, files: specFiles([file]), environment_names };
  },
  async make(spec, context) {
    const { argv, files_digest } = SettingsSchema.parse(spec.settings);
    const files = files_digest === null ? [] : [{ tree: keptTree(spec, files_digest, context), target }];
    return { files, ...grantedEnvironment(spec, context), timeLimitMs: null, speaks: { kind: 'command', argv } };
  },
};

function parseArgv(text: string): string[] {
  try {
    return ArgvSchema.parse(JSON.parse(text));
  } catch (error) {
    const detail = error instanceof z.ZodError ? error.issues.map((issue) => issue.message).join('; ') : messageOf(error);
    throw new AppError(
      'invalid_configuration',
      `command: expected a JSON array of strings, found ${text} (${detail}): write command:["sh","-c","make"]`,
      { cause: error },
    );
  }
}

async function readProgram(rest: string, context: ResolveContext): Promise<KeptFile> {
  const place = path.resolve(context.directory, rest);
  const found = await stat(place).catch(() => null);
  if (found === null) {
    throw new AppError(
      'invalid_configuration',
      `command: expected a program at ${place}, found nothing: one path follows the colon; for arguments write a JSON array`,
    );
  }
  if (found.isDirectory()) {
    throw new AppError(
      'invalid_configuration',
      `command: expected a program, found the directory ${place}: pass the directory itself as the agent, with an agent.toml in it`,
    );
  }
  if (!found.isFile())
    throw new AppError('invalid_configuration', `command: expected a regular file at ${place}, found a device, pipe or socket`);
  // Naming it here is the wish to run it, so a lost execute bit is put back.
  return { path: path.basename(place), mode: (found.mode & 0o777) | 0o111, content: await readFile(place) };
}
