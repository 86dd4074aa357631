import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { type ExperimentFile, ExperimentFileSchema, readExperimentFile } from '../compositions/experiment-file.ts';
import { AppError } from '../domain/errors.ts';
import { askedEnvironment } from './environment-flags.ts';
import { readToml } from './experiment-toml.ts';
import type { Given } from './given.ts';

/** What an experiment is asked to be: the file that was named, if one was, outranked by the flags. */
export type Asked = ExperimentFile & {
  /** Paths in it are relative to this folder. */
  directory: string;
};

export async function askedExperiment(words: readonly string[], options: Given): Promise<Asked> {
  const given = options.lenient();
  refuseAbsent(given);
  const [first = ''] = words;
  const flags = fromFlags(given);
  if (!isExperimentFile(first)) return { tasks: [...words], ...flags, directory: process.cwd() };
  if (words.length > 1)
    throw new AppError('usage', `${first} already says which tasks: expected nothing beside it, found ${words.slice(1).join(' ')}`);
  const file = await readExperimentFile(readFileSync(first, 'utf8'), first, readToml);
  if (flags.lanes !== undefined && resolve(dirname(first)) !== process.cwd()) {
    flags.lanes = Object.fromEntries(
      Object.entries(flags.lanes).map(([label, spec]) => [label, movedSpec(spec, process.cwd(), resolve(dirname(first)))]),
    );
  }
  return {
    ...file,
    ...flags,
    environment: { ...file.environment, ...flags.environment },
    settings: { ...file.settings, ...flags.settings },
    directory: resolve(dirname(first)),
  };
}

/** The same experiment with its paths relative to `folder`, as a file there is read. */
export function movedTo(folder: string, { directory, ...file }: Asked): ExperimentFile {
  const tasks = (typeof file.tasks === 'string' ? [file.tasks] : file.tasks).map((one) =>
    existsSync(resolve(directory, one)) ? pathFrom(folder, resolve(directory, one)) : one,
  );
  const [only] = tasks;
  return {
    ...file,
    tasks: tasks.length === 1 && only !== undefined ? only : tasks,
    ...(file.lanes === undefined
      ? {}
      : { lanes: Object.fromEntries(Object.entries(file.lanes).map(([label, spec]) => [label, movedSpec(spec, directory, folder)])) }),
  };
}

/** `[label=]spec` → lanes in order, each with a label of its own. Errors: usage. */
export function lanesOf(values: readonly string[]): Record<string, string> {
  const lanes = new Map<string, string>();
  for (const value of values) {
    const named = /^([^=:/\\[\s]+)=(.*)$/s.exec(value);
    const [, written, rest] = named ?? [];
    if (written !== undefined && !/^[a-z0-9-]{1,32}$/.test(written)) {
      throw new AppError(
        'usage',
        `--agent ${JSON.stringify(value)}: expected a label of lowercase letters, digits and hyphens (at most 32) before the =, found ${JSON.stringify(written)}`,
      );
    }
    const spec = rest ?? value;
    if (spec === '') throw new AppError('usage', `--agent ${JSON.stringify(value)}: expected an agent after the =`);
    if (written !== undefined && lanes.has(written))
      throw new AppError('usage', `--agent: two lanes have the label ${written}: give each a label of its own`);
    lanes.set(written ?? freeLabel(labelFor(spec), lanes), spec);
  }
  return Object.fromEntries(lanes);
}

function fromFlags(given: Given): Omit<Partial<ExperimentFile>, 'tasks'> {
  const agents = given.list('agent');
  const use = given.text('environment');
  const environment = { ...(use === null ? {} : { use }), ...askedEnvironment(given) };
  const settings = settingsSchema.parse(
    withoutAbsent({
      format: given.text('format'),
      strict_files: given.flag('strict-files') || null,
      materialize_links: given.flag('materialize-links') || null,
      skip_invalid: given.flag('skip-invalid') || null,
      include: orNull(given.list('include')),
      exclude: orNull(given.list('exclude')),
      limit: given.number('limit'),
      shuffle: given.flag('shuffle') || null,
      seed: given.number('seed'),
      agent_env: orNull(given.list('agent-env')),
      concurrency: given.number('concurrency'),
      max_attempts: given.number('max-attempts'),
      timeout_multiplier: given.number('timeout-multiplier'),
      fail_fast: given.number('fail-fast'),
      max_iterations: given.number('max-iterations'),
      feedback: given.text('feedback'),
      live_processes: given.text('live-processes'),
      reward_key: given.text('reward-key'),
      accept_retries: given.flag('accept-retries') || null,
      keep_state: given.flag('keep-state') || null,
    }),
  );
  return {
    ...experimentAndRepeat(given),
    ...(agents.length === 0 ? {} : { lanes: lanesOf(agents) }),
    ...(Object.keys(environment).length === 0 ? {} : { environment }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  };
}

function experimentAndRepeat(given: Given): Pick<ExperimentFile, 'experiment' | 'repeat'> {
  const experiment = given.text('experiment');
  const repeat = given.number('repeat');
  return { ...(experiment === null ? {} : { experiment }), ...(repeat === null ? {} : { repeat }) };
}

/** Parts that this build does not have are refused before anything is read. */
function refuseAbsent(given: Given): void {
  if (given.text('budget') !== null) {
    throw new AppError(
      'capability_not_enabled',
      '--budget: the capability budgets is absent from this build; nothing meters model calls here, so leave it out.',
      { details: { capability: 'budgets' } },
    );
  }
  const grader = given.text('grader') === 'both' ? '--grader both' : given.text('grader-model') === null ? null : '--grader-model';
  if (grader !== null) {
    throw new AppError(
      'grader_unavailable',
      `${grader}: the rubric grader is absent from this build: leave it out, and each task's own verifier decides.`,
      { details: { capability: 'rubric_grader' } },
    );
  }
}

/** A task is a folder, so a file that ends in .toml is an experiment. */
function isExperimentFile(word: string): boolean {
  if (!word.endsWith('.toml')) return false;
  const isFile = statSync(word, { throwIfNoEntry: false })?.isFile() === true;
  if (isFile && basename(word) === 'task.toml') throw new AppError('usage', `${word} is a task: expected its folder, ${dirname(word)}`);
  if (!isFile) throw new AppError('not_found', `no file ${word}: proctor eval experiment … --write-config ${word} makes one`);
  return true;
}

/** `command:./run.sh` and `./agent` name a file: its place is kept. */
function movedSpec(spec: string, from: string, to: string): string {
  const found = /^((?:command|module):)?(\.{1,2}\/.*)$/s.exec(spec);
  if (found?.[2] !== undefined) return `${found[1] ?? ''}${pathFrom(to, resolve(from, found[2]))}`;
  const list = /^command:(\[.*\])$/s.exec(spec)?.[1];
  if (list === undefined) return spec;
  const argv = jsonList(list);
  const program = argv?.[0];
  if (argv === null || typeof program !== 'string' || !/^\.{1,2}\//.test(program)) return spec;
  return `command:${JSON.stringify([pathFrom(to, resolve(from, program)), ...argv.slice(1)])}`;
}

function pathFrom(folder: string, path: string): string {
  const found = relative(folder, path);
  return isAbsolute(found) || found.startsWith('..') ? found : `./${found}`;
}

function jsonList(text: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** `command:./my-agent.sh` → `my-agent` */
function labelFor(spec: string): string {
  const name = basename((jsonList(spec.replace(/^command:/, ''))?.[0] ?? spec.replace(/^[a-z-]+:(?=.)/, '')).toString()).replace(
    /\.[a-z]+$/i,
    '',
  );
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 32) || 'agent'
  );
}

function freeLabel(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) {
    const label = `${wanted.slice(0, 28)}-${number}`;
    if (!taken.has(label)) return label;
  }
}

function orNull(list: string[]): string[] | null {
  return list.length === 0 ? null : list;
}

function withoutAbsent(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

const settingsSchema = ExperimentFileSchema.shape.settings.unwrap();
