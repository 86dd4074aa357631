import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { AgentKind } from '../agent.ts';
import type { KeptFile } from '../domain/agent-version.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import { ArgvSchema, placeUploaded } from './argv.ts';
import { checkedEnvironmentNames, grantedEnvironment } from './granted-environment.ts';
import { keptTree, specFiles } from './kept-tree.ts';
import { readFolder } from './read-folder.ts';

const target = '/opt/agent';
const marker = 'agent.toml';

const AgentTomlSchema = z.strictObject({
  command: ArgvSchema,
  setup: ArgvSchema.optional(),
  /** Files and directories of the folder to upload; absent = all of it. */
  files: z.array(z.string().min(1)).optional(),
  env: z.array(z.string()).default([]),
  /** Seconds. */
  timeout: z
    .number()
    .positive()
    .max(7 * 24 * 3600)
    .optional(),
});
const SettingsSchema = z.strictObject({
  argv: ArgvSchema,
  setup: ArgvSchema.nullable(),
  time_limit_ms: z.number().nullable(),
  files_digest: z.string(),
});

export const folder: AgentKind = {
  summary: `a directory with an ${marker} (command, setup, files, env, timeout), uploaded to ${target}`,
  async resolve(rest, context) {
    if (rest === '')
      throw new AppError('invalid_configuration', `folder: expected a directory with an ${marker} after the colon, found nothing`);
    const root = path.resolve(context.directory, rest);
    const written = await readAgentToml(path.join(root, marker));
    const files = (await readFolder(root)).filter((file) => file.path !== marker && isSelected(file, written.files));
    for (const wanted of written.files ?? []) {
      if (!files.some((file) => isSelected(file, [wanted])))
        throw invalid(root, `files: expected a file or directory of the folder, found ${JSON.stringify(wanted)}, which is not there`);
    }
    const uploaded = new Set(files.map((file) => file.path));
    for (const [key, argv] of [
      ['command', written.command],
      ['setup', written.setup],
    ] as const) {
      if (argv?.[0]?.startsWith('./') && !uploaded.has(argv[0].slice(2)))
        throw invalid(root, `${key}: ${argv[0]} is not among the uploaded files: add it, or correct the path`);
    }
    return {
      kind: 'folder',
      settings: {
        argv: placeUploaded(written.command, uploaded, target),
        setup: written.setup === undefined ? null : placeUploaded(written.setup, uploaded, target),
        time_limit_ms: written.timeout === undefined ? null : Math.round(written.timeout * 1000),
        files_digest: await context.keepFiles(files),
      },
      files: specFiles(files),
      environment_names: checkedEnvironmentNames([...written.env, ...context.environmentNames], path.join(root, marker)),
    };
  },
  async make(spec, context) {
    const settings = SettingsSchema.parse(spec.settings);
    return {
      files: [{ tree: keptTree(spec, settings.files_digest, context), target }],
      ...(settings.setup === null ? {} : { setup: settings.setup }),
      ...grantedEnvironment(spec, context),
      timeLimitMs: settings.time_limit_ms,
      speaks: { kind: 'command', argv: settings.argv },
    };
  },
};

async function readAgentToml(file: string): Promise<z.infer<typeof AgentTomlSchema>> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AppError(
      'invalid_configuration',
      `expected an agent folder with ${file}, which cannot be read (${messageOf(cause)}): add one with command = ["./run.sh"]`,
      { cause },
    );
  });
  const { parse } = await import('smol-toml');
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw new AppError('invalid_configuration', `${file}: ${messageOf(cause)}`, { cause });
  }
  const checked = AgentTomlSchema.safeParse(value);
  if (checked.success) return checked.data;
  const issues = checked.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`).join('; ');
  throw new AppError('invalid_configuration', `${file}: ${issues}. Keys are command, setup, files, env, timeout`);
}

function isSelected(file: KeptFile, wanted: readonly string[] | undefined): boolean {
  if (wanted === undefined) return true;
  return wanted.some((item) => {
    const clean = item.replace(/^\.\//, '').replace(/\/+$/, '');
    return clean === '' || clean === '.' || file.path === clean || file.path.startsWith(`${clean}/`);
  });
}

function invalid(root: string, message: string): AppError {
  return new AppError('invalid_configuration', `${path.join(root, marker)}: ${message}`);
}
