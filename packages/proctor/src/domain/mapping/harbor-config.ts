import { type HarborArtifact, readArtifacts } from './harbor-artifacts.ts';
import { type HarborEnvironment, readEnvironment } from './harbor-environment.ts';
import { type LiveVerifier, maxIterations, readImageAlias, readLiveVerifier, taskTitle } from './harbor-live-keys.ts';
import { type HarborAgent, type HarborVerifier, readAgent, readVerifier } from './harbor-phases.ts';
import { type HarborStep, readSteps } from './harbor-steps.ts';
import { childPath } from './key-path.ts';
import { arrayOf, environmentVariables, fail, nonEmptyText, oneOf, text } from './lax-values.ts';
import type { MappingLog } from './mapping-log.ts';
import { isTable, plainJson, type Table } from './plain-json.ts';
import { type Read, TableReader } from './table-reader.ts';

/** A task.toml as Harbor's model holds it, defaults filled in, and beside it the live keys of the minimal form. */
export type HarborConfig = {
  schema_version: string;
  task: HarborPackage | null;
  metadata: Table;
  verifier: HarborVerifier;
  agent: HarborAgent;
  environment: HarborEnvironment;
  solution: { env: Record<string, string> };
  source: string | null;
  multi_step_reward_strategy: 'mean' | 'final' | null;
  steps: HarborStep[] | null;
  artifacts: HarborArtifact[];
  name: string | null;
  max_iterations: number | null;
  live: LiveVerifier;
};

export type HarborPackage = {
  name: string;
  version: string | null;
  description: string;
  authors: { name: string; email: string | null }[];
  keywords: string[];
};

/** `hasTestScript`: whether tests/test.sh lies beside the file, which decides what a `command` that is a string means. */
export function readHarborConfig(value: Table, log: MappingLog, options: { hasTestScript: boolean }): HarborConfig {
  const reader = new TableReader(value, '', log);
  const config: HarborConfig = {
    schema_version: readSchemaVersion(reader),
    task: reader.table<HarborPackage | null>('task', readPackage, null),
    metadata: readMetadata(reader),
    agent: reader.section('agent', readAgent),
    environment: readRootEnvironment(reader),
    solution: reader.section('solution', readSolution),
    source: reader.take<string | null>('source', text, null),
    multi_step_reward_strategy: reader.take<'mean' | 'final' | null>('multi_step_reward_strategy', oneOf('mean', 'final'), null),
    steps: readSteps(reader),
    artifacts: readArtifacts(reader),
    name: readName(reader),
    max_iterations: reader.take<number | null>('max_iterations', maxIterations, null, 'not written: --max-iterations, else 1'),
    ...readRootVerifier(reader, options.hasTestScript),
  };
  if (reader.has('source')) log.carry('source', reader.raw('source'));
  reader.end();
  return config;
}

function readSchemaVersion(reader: TableReader): string {
  if (!reader.has('version')) return reader.take('schema_version', text, '1.4');
  if (reader.has('schema_version')) {
    reader.ignore('version', 'the old name of schema_version, which is written too and outranks it');
    return reader.written('schema_version', text) ?? '1.4';
  }
  return reader.written('version', text) ?? '1.4';
}

function readName(reader: TableReader): string | null {
  if (!reader.has('name')) return null;
  if (!reader.has('task')) return reader.written('name', taskTitle) ?? null;
  reader.ignore('name', '[task] name outranks it');
  return null;
}

function readPackage(reader: TableReader): HarborPackage | null {
  const name = reader.require('name', packageName, 'org/name');
  const rest = {
    version: reader.take<string | null>('version', nonEmptyText, null),
    description: reader.take('description', text, ''),
    authors: reader.tables('authors', readAuthor).filter((author) => author !== null),
    keywords: reader.take('keywords', arrayOf(text, 'an array of strings'), []),
  };
  for (const key of ['version', 'authors', 'keywords']) if (reader.has(key)) reader.log.carry(reader.at(key), reader.raw(key));
  return name === undefined ? null : { name, ...rest };
}

function readAuthor(reader: TableReader): { name: string; email: string | null } | null {
  const name = reader.require('name', text, "the author's name");
  const email = reader.take<string | null>('email', text, null);
  return name === undefined ? null : { name, email };
}

const packageName: Read<string> = (cell) => {
  if (typeof cell.value !== 'string') return fail(cell, 'a string, org/name');
  const isName = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/.test(cell.value) && !cell.value.includes('..');
  const hint = /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(cell.value) ? `Write name = "your-org/${cell.value}"` : undefined;
  return isName ? cell.value : fail(cell, 'org/name of letters, digits, dots, dashes and underscores', hint);
};

/** Free-form: nothing in it is unknown, and difficulty and tags are read later. */
function readMetadata(reader: TableReader): Table {
  if (!reader.has('metadata')) return {};
  const value = plainJson(reader.raw('metadata'));
  const path = reader.at('metadata');
  if (!isTable(value) || !isTable(reader.raw('metadata')))
    return fail({ value: reader.raw('metadata'), path, log: reader.log }, 'a table') ?? {};
  const entries = Object.entries(value);
  if (entries.length === 0) reader.log.take(path, {});
  for (const [key, item] of entries) {
    reader.log.take(childPath(path, key), item, key === 'difficulty' || key === 'tags' ? 'a tag' : 'kept in source_fields');
  }
  reader.log.carry(path, value);
  return value;
}

function readRootEnvironment(reader: TableReader): HarborEnvironment {
  return reader.section('environment', (inner) => {
    const environment = readEnvironment(inner);
    return { ...environment, docker_image: readImageAlias(inner, environment.docker_image) };
  });
}

function readRootVerifier(reader: TableReader, hasTestScript: boolean): { verifier: HarborVerifier; live: LiveVerifier } {
  return reader.section('verifier', (inner) => ({ verifier: readVerifier(inner), live: readLiveVerifier(inner, hasTestScript) }));
}

function readSolution(reader: TableReader): { env: Record<string, string> } {
  return { env: reader.take('env', environmentVariables, {}) };
}

const AT_ROOT = 'at the root, before the first table';
/** Keys that TOML puts under a table when they are written after its header. */
export const HARBOR_KEYS_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['artifacts', AT_ROOT],
  ['max_iterations', AT_ROOT],
  ['multi_step_reward_strategy', AT_ROOT],
  ['schema_version', AT_ROOT],
  ['docker_image', 'in [environment]'],
  ['cpus', 'in [environment]'],
  ['memory_mb', 'in [environment]'],
  ['storage_mb', 'in [environment]'],
  ['workdir', 'in [environment]'],
  ['mcp_servers', 'in [environment]'],
  ['allow_internet', 'in [environment]'],
  ['min_reward', 'in [[steps]]'],
]);
