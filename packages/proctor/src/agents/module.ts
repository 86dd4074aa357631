import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Agent, AgentEnd, AgentKind, DriverWork } from '../agent.ts';
import type { KeptFile } from '../domain/agent-version.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import type { FileTree, Task } from '../domain/task.ts';
import { ArgvSchema } from './argv.ts';
import { checkedEnvironmentNames, grantedEnvironment } from './granted-environment.ts';
import { keptTree, specFiles } from './kept-tree.ts';
import { readFolder } from './read-folder.ts';

const SettingsSchema = z.strictObject({ entry: z.string(), version: z.string().nullable(), files_digest: z.string() });

/** What a module may export: `createAgent(context)`, or `agent` (also as the default export); and `version`. */
const ModuleSchema = z.looseObject({
  createAgent: z.custom<(context: CreateAgentContext) => unknown>((value) => typeof value === 'function', 'expected a function').optional(),
  agent: z.unknown().optional(),
  default: z.unknown().optional(),
  version: z.string().optional(),
});

/** Given to a module's `createAgent`. `packageFiles` is the frozen copy of its package, ready to be uploaded. */
export type CreateAgentContext = { task: Task | null; environment: Readonly<Record<string, string>>; packageFiles: FileTree };

const ExportedAgentSchema = z.looseObject({
  files: z
    .array(
      z.strictObject({
        tree: z.custom<FileTree>((value) => typeof value === 'object' && value !== null),
        target: z.string().startsWith('/'),
      }),
    )
    .optional(),
  setup: ArgvSchema.optional(),
  environment: z.record(z.string(), z.string()).default({}),
  redact: z.array(z.string()).default([]),
  timeLimitMs: z.number().positive().nullable().default(null),
  speaks: z.discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('command'), argv: ArgvSchema }),
    z.looseObject({ kind: z.literal('driver'), drive: z.custom<Drive>((value) => typeof value === 'function', 'expected a function') }),
  ]),
});
type Drive = (work: DriverWork) => Promise<unknown>;

const EndSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('completed') }),
  z.strictObject({ kind: z.literal('failed'), reason: z.string() }),
]);

export const module: AgentKind = {
  summary:
    'a path to a .ts or .js module that exports createAgent(context), or agent: a command in the sandbox or a driver that works on it from outside',
  async resolve(rest, context) {
    if (rest === '')
      throw new AppError('invalid_configuration', 'module: expected the path of a .ts or .js file after the colon, found nothing');
    const file = path.resolve(context.directory, rest);
    const { files, entry, nodeModules } = await readPackage(file);
    const digest = await context.keepFiles(files, { nodeModules });
    const exported = await load(path.join(context.filesFor(digest), entry), file);
    if (exported.createAgent === undefined && offered(exported) === undefined) {
      throw new AppError(
        'invalid_configuration',
        `${file}: expected an export named createAgent or agent, found ${Object.keys(exported).join(', ') || 'none'}`,
      );
    }
    return {
      kind: 'module',
      settings: { entry, version: exported.version ?? null, files_digest: digest },
      files: specFiles(files),
      environment_names: checkedEnvironmentNames(context.environmentNames, '--agent-env'),
    };
  },
  async make(spec, context) {
    const settings = SettingsSchema.parse(spec.settings);
    const granted = grantedEnvironment(spec, context);
    const packageFiles = keptTree(spec, settings.files_digest, context);
    const place = path.join(packageFiles.root, settings.entry);
    const exported = await load(place, settings.entry);
    const made =
      exported.createAgent === undefined
        ? offered(exported)
        : await exported.createAgent({ task: context.task, environment: granted.environment, packageFiles });
    const checked = ExportedAgentSchema.safeParse(made);
    if (!checked.success) {
      const issues = checked.error.issues.map((issue) => `${issue.path.join('.') || 'the agent'}: ${issue.message}`).join('; ');
      throw new AppError('invalid_configuration', `${settings.entry}: what the module exports is no Agent: ${issues}`);
    }
    const { files, setup, environment, redact, timeLimitMs, speaks } = checked.data;
    const agent: Agent = {
      environment: { ...granted.environment, ...environment },
      redact: [...granted.redact, ...redact],
      timeLimitMs,
      speaks: speaks.kind === 'driver' ? { kind: 'driver', drive: checkedEnd(speaks.drive) } : { kind: 'command', argv: speaks.argv },
    };
    if (files !== undefined) agent.files = files;
    if (setup !== undefined) agent.setup = setup;
    return agent;
  },
};

/** A driver that ends in another way than agreed has failed: its end is never guessed. */
function checkedEnd(drive: Drive): (work: DriverWork) => Promise<AgentEnd> {
  return async (work) => {
    const end = EndSchema.safeParse(await drive(work));
    return end.success
      ? end.data
      : { kind: 'failed', reason: 'the driver returned neither { kind: "completed" } nor { kind: "failed", reason }' };
  };
}

function offered(exported: z.infer<typeof ModuleSchema>): unknown {
  return exported.agent ?? exported.default;
}

async function load(place: string, name: string): Promise<z.infer<typeof ModuleSchema>> {
  let exported: unknown;
  try {
    exported = await import(pathToFileURL(place).href);
  } catch (cause) {
    throw new AppError('invalid_configuration', `${name}: the agent's module cannot be loaded: ${messageOf(cause)}`, { cause });
  }
  const checked = ModuleSchema.safeParse({ ...Object(exported) });
  if (checked.success) return checked.data;
  throw new AppError(
    'invalid_configuration',
    `${name}: ${checked.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`,
  );
}

/** The package around a module, or the file alone where no package.json says how far the package goes: what is not read here cannot act later. */
async function readPackage(file: string): Promise<{ files: KeptFile[]; entry: string; nodeModules: string | null }> {
  const found = await stat(file).catch(() => null);
  if (found === null || !found.isFile())
    throw new AppError(
      'invalid_configuration',
      `expected the agent's module at ${file}, found ${found === null ? 'nothing' : 'no regular file'}`,
    );
  const root = await above(path.dirname(file), 'package.json');
  const modulesIn = await above(path.dirname(file), 'node_modules');
  const nodeModules = modulesIn === null ? null : path.join(modulesIn, 'node_modules');
  if (root === null) {
    return {
      files: [{ path: path.basename(file), mode: found.mode & 0o777, content: await readFile(file) }],
      entry: path.basename(file),
      nodeModules,
    };
  }
  const entry = path.relative(root, file).split(path.sep).join('/');
  const files = await readFolder(root);
  if (!files.some((item) => item.path === entry)) {
    throw new AppError(
      'invalid_configuration',
      `${file} is ignored by git, so its bytes would not be part of the AgentVersion: take it out of .gitignore`,
    );
  }
  return { files, entry, nodeModules };
}

/** The nearest directory, from `directory` upwards, that holds `name`. */
async function above(directory: string, name: string): Promise<string | null> {
  for (let place = directory; ; place = path.dirname(place)) {
    if ((await stat(path.join(place, name)).catch(() => null)) !== null) return place;
    if (place === path.dirname(place)) return null;
  }
}
