// Copies recorded answers of Harbor's own package into fixtures/, with names, addresses and free text of real files replaced.
// Usage: node scripts/require-node-24.cjs scripts/import-vectors.ts [folder of the recordings]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const root = path.join(import.meta.dirname, '..');
const from = path.resolve(process.argv[2] ?? path.join(root, '..', 'shared', 'vectors'));
const to = path.join(root, 'fixtures', 'harbor-parse');

const errorSchema = z.object({ type: z.string(), loc: z.array(z.union([z.string(), z.number()])), kind: z.string() });
const answer = {
  parser: z.string(),
  accepted: z.boolean(),
  model: z.record(z.string(), z.json()).optional(),
  error: z.array(errorSchema).optional(),
  ignored_keys: z.array(z.string()).optional(),
};
const parseSchema = z.object({
  cases: z.array(z.object({ name: z.string(), input: z.string().optional(), input_base64: z.string().optional(), ...answer })),
  entries: z.array(z.object({ entry: z.string(), ...answer })),
});
const behaviourSchema = z.object({
  vectors: z.array(
    z.object({ function: z.string(), input: z.json(), output: z.json().optional(), error: z.object({ type: z.string() }).optional() }),
  ),
});

/** Functions of the package that compiling answers too; only calls with made-up input. */
const FUNCTIONS: Record<string, string> = {
  'harbor.models.task.task.strip_canary': 'strip_canary',
  'harbor.models.task.config.normalize_allowed_hosts': 'allowed_host',
  'harbor.models.task.step_name.validate_step_name': 'step_name',
  'harbor.models.task.step_name.step_name_key': 'step_name_key',
  'harbor.models.task.config.EnvironmentConfig._parse_size_to_mb': 'size_mb',
  'harbor.models.task.task.Task.is_valid_dir': 'is_task_folder',
  'harbor.models.task.task.Task': 'task_folder',
};

/** Words of the format; every other string of a real file is replaced. */
const KEPT = new Set([
  'public',
  'no-network',
  'allowlist',
  'linux',
  'windows',
  'shared',
  'separate',
  'mean',
  'final',
  'sse',
  'streamable-http',
  'stdio',
  'main',
  '',
]);

function withoutText(value: z.core.util.JSONType): z.core.util.JSONType {
  if (typeof value === 'string') return KEPT.has(value) ? value : 'text';
  if (Array.isArray(value)) return value.map(withoutText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutText(item)]));
}

function write(name: string, rows: readonly unknown[]): void {
  writeFileSync(path.join(to, name), `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`);
  process.stdout.write(`${name}: ${rows.length}\n`);
}

const parse = parseSchema.parse(JSON.parse(readFileSync(path.join(from, 'harbor-parse.json'), 'utf8')));
const behaviour = behaviourSchema.parse(JSON.parse(readFileSync(path.join(from, 'harbor-behaviour.json'), 'utf8')));
mkdirSync(to, { recursive: true });
const kinds = (error: z.infer<typeof errorSchema>[] | undefined) => error?.map(({ type, loc, kind }) => ({ type, loc, kind }));
write(
  'cases.json',
  parse.cases.map(({ name, input, input_base64, accepted, model, error, ignored_keys }) => ({
    name,
    input,
    input_base64,
    accepted,
    model,
    error: kinds(error),
    ignored_keys,
  })),
);
write(
  'real-files.json',
  parse.entries
    .filter(({ entry }) => entry.startsWith('harbor/'))
    .map(({ entry, accepted, model, error, ignored_keys }) => ({
      entry,
      accepted,
      model: model === undefined ? undefined : withoutText(model),
      error: kinds(error),
      ignored_keys,
    })),
);
write(
  'functions.json',
  behaviour.vectors.flatMap(({ function: name, input, output, error }) => {
    const ours = FUNCTIONS[name];
    const isReal = typeof input === 'object' && input !== null && 'entry' in input;
    return ours === undefined || isReal ? [] : [{ function: ours, input, output, error: error?.type }];
  }),
);
