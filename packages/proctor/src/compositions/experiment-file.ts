import { z } from 'zod';
import { AppError } from '../domain/errors.ts';
import type { Issue } from '../domain/issue.ts';
import { didYouMean } from '../domain/mapping/did-you-mean.ts';

const label = z.string().regex(/^[a-z0-9-]{1,32}$/);
const names = z.array(z.string().min(1));

/** An experiment as a file in git: what `proctor eval experiment` takes in place of tasks. Paths are relative to the file. */
export const ExperimentFileSchema = z.strictObject({
  tasks: z.union([z.string().min(1), names.min(1)]),
  experiment: z.string().min(1).optional(),
  repeat: z.int().min(1).max(100).optional(),
  lanes: z.record(label, z.string().min(1)).optional(),
  environment: z
    .strictObject({
      /** A stored Environment, by name or id; the other keys change it. */
      use: z.string().min(1).optional(),
      sandbox: z.enum(['auto', 'docker', 'local']).optional(),
      isolation: z.enum(['default', 'none']).optional(),
      network: z.enum(['task', 'none', 'public']).optional(),
      ignore_image: z.boolean().optional(),
      image_template: z.string().min(1).optional(),
      build: z.boolean().optional(),
    })
    .optional(),
  settings: z
    .strictObject({
      format: z.string().optional(),
      strict_files: z.boolean().optional(),
      materialize_links: z.boolean().optional(),
      skip_invalid: z.boolean().optional(),
      include: names.optional(),
      exclude: names.optional(),
      limit: z.int().min(1).optional(),
      shuffle: z.boolean().optional(),
      seed: z.int().min(0).optional(),
      agent_env: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)).optional(),
      concurrency: z.int().min(1).max(1024).optional(),
      max_attempts: z.int().min(1).max(10).optional(),
      timeout_multiplier: z.number().positive().optional(),
      fail_fast: z.int().min(1).optional(),
      max_iterations: z.int().min(1).max(20).optional(),
      feedback: z.enum(['none', 'summary', 'full']).optional(),
      live_processes: z.enum(['keep', 'kill', 'contest']).optional(),
      reward_key: z.string().min(1).optional(),
      accept_retries: z.boolean().optional(),
      keep_state: z.boolean().optional(),
    })
    .optional(),
});
export type ExperimentFile = z.infer<typeof ExperimentFileSchema>;

/** How TOML is read: the value, and where a key of it is written. */
export type ReadToml = (
  text: string,
) => Promise<
  | { kind: 'parsed'; value: unknown; at(path: string): { line: number; column: number } | null }
  | { kind: 'failed'; message: string; line: number | null; column: number | null }
>;

/** Errors: invalid_configuration, with every issue and its place. */
export async function readExperimentFile(text: string, file: string, readToml: ReadToml): Promise<ExperimentFile> {
  const source = await readToml(text);
  if (source.kind === 'failed') {
    throw refused(file, [
      { severity: 'error', path: '', message: source.message, place: { file, line: source.line, column: source.column } },
    ]);
  }
  const parsed = ExperimentFileSchema.safeParse(source.value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap((issue) => issuesOf(issue, source.value));
  throw refused(
    file,
    issues.map((issue) => ({ ...issue, place: { file, ...(source.at(issue.path) ?? { line: null, column: null }) } })),
  );
}

/** The file's text. Reading it gives the same value back. */
export function writeExperimentFile(file: ExperimentFile): string {
  const { lanes, environment, settings, ...root } = file;
  const sections = [
    '# proctor eval experiment proctor.toml\n',
    tableText(null, root),
    tableText('lanes', lanes ?? {}),
    tableText('environment', environment ?? {}),
    tableText('settings', settings ?? {}),
  ];
  return sections.filter((section) => section !== '').join('\n');
}

function refused(file: string, issues: Issue[]): AppError {
  const count = issues.length === 1 ? 'one thing is' : `${issues.length} things are`;
  return new AppError('invalid_configuration', `${file} cannot be used: ${count} wrong with it`, { details: { issues } });
}

function issuesOf(issue: z.core.$ZodIssue, value: unknown): Issue[] {
  const path = keyPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(issue.path);
    return issue.keys.map((key) => {
      const near = didYouMean(key, known);
      return {
        severity: 'error',
        path: keyPath([...issue.path, key]),
        message: 'unknown key',
        hint: near === null ? `Known here: ${known.join(', ')}` : `Did you mean ${near}?`,
      };
    });
  }
  const found = issue.path.reduce<unknown>(child, value);
  if (found === undefined) return [{ severity: 'error', path, message: 'this key is missing' }];
  if (issue.code === 'invalid_key') {
    return [{ severity: 'error', path, message: 'expected a label of lowercase letters, digits and hyphens, at most 32' }];
  }
  return [{ severity: 'error', path, message: issue.message.replace(/^Invalid input: /, ''), found: JSON.stringify(found) }];
}

function knownKeys(path: readonly PropertyKey[]): string[] {
  const { environment, settings } = ExperimentFileSchema.shape;
  const [table] = path;
  if (table === 'environment') return Object.keys(environment.unwrap().shape);
  if (table === 'settings') return Object.keys(settings.unwrap().shape);
  return Object.keys(ExperimentFileSchema.shape);
}

function child(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<PropertyKey, unknown>)[key]
    : undefined;
}

function keyPath(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${keyText(String(key))}`))
    .join('')
    .replace(/^\./, '');
}

function tableText(name: string | null, values: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${keyText(key)} = ${valueText(value)}\n`);
  if (lines.length === 0) return '';
  return `${name === null ? '' : `[${name}]\n`}${lines.join('')}`;
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  // A JSON string is a TOML basic string, but for the delete character.
  return (JSON.stringify(value) ?? '""').replaceAll('\u007f', '\\u007f');
}
