import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { normalizeAllowedHost } from '../../domain/mapping/allowed-host.ts';
import { stripCanary } from '../../domain/mapping/canary.ts';
import { HARBOR_KEYS_ELSEWHERE, type HarborConfig, readHarborConfig } from '../../domain/mapping/harbor-config.ts';
import { readSizeMb } from '../../domain/mapping/harbor-sizes.ts';
import { stepName, stepNameKey } from '../../domain/mapping/harbor-steps.ts';
import { MappingLog } from '../../domain/mapping/mapping-log.ts';
import { plainJson } from '../../domain/mapping/plain-json.ts';
import { TableReader } from '../../domain/mapping/table-reader.ts';
import { parseToml } from './toml.ts';

const root = path.join(import.meta.dirname, '..', '..', '..', '..', '..');
const fixtures = path.join(root, 'fixtures', 'harbor-parse');
const corpus = path.join(root, '..', 'shared', 'corpus');
const page = readFileSync(path.join(root, 'docs', 'harbor-differences.md'), 'utf8');

type Answer = { accepted: boolean; model?: unknown; error?: { loc: (string | number)[]; kind: string }[]; ignored_keys?: string[] };
type Case = Answer & { name: string; input?: string; input_base64?: string };
type RealFile = Answer & { entry: string };
type Call = { function: string; input: unknown; output?: unknown; error?: string };

/** Row of docs/harbor-differences.md → the recorded cases that differ under it. */
const DIFFERENCES: Record<string, readonly string[]> = {
  'live-keys': [
    'root-is-flat-keys',
    'environment-typos',
    'harbor/openagora-foreign-dialect/task.toml',
    'harbor/verifier-command-array/task.toml',
  ],
  'byte-order-mark': ['bom'],
  'toml-1-1': ['inline-table-trailing-comma', 'inline-table-with-newline', 'toml-1-1-escapes', 'toml-1-1-time-without-seconds'],
  'not-finite': ['timeout-not-finite', 'timeout-overflow', 'timeout-string-inf', 'min-reward-negative-nan'],
  'boolean-number': ['timeout-bool', 'memory-mb-bool', 'cpus-bool', 'user-bool', 'min-reward-bool'],
  'number-bounds': [
    'timeout-zero',
    'timeout-negative',
    'int-beyond-64-bit',
    'memory-kilobytes-round-to-zero',
    'memory-negative',
    'memory-mb-zero-storage-negative',
    'cpus-zero',
    'cpus-negative',
    'gpus-negative-string',
    'user-empty-and-negative',
  ],
  'name-final-newline': ['task-name-final-newline'],
  'allow-internet-empty-hosts': ['allow-internet-loses-to-empty-hosts'],
  'date-precision': ['metadata-dates'],
};
const rowOf = new Map(Object.entries(DIFFERENCES).flatMap(([row, names]) => names.map((name) => [name, row] as const)));

const cases = JSON.parse(readFileSync(path.join(fixtures, 'cases.json'), 'utf8')) as Case[];
const realFiles = JSON.parse(readFileSync(path.join(fixtures, 'real-files.json'), 'utf8')) as RealFile[];
const calls = JSON.parse(readFileSync(path.join(fixtures, 'functions.json'), 'utf8')) as Call[];

test('every difference is a row of the page', () => {
  for (const row of Object.keys(DIFFERENCES)) expect(page).toContain(`| \`${row}\` |`);
  const names = new Set([...cases.map((one) => one.name), ...realFiles.map((one) => one.entry)]);
  expect([...rowOf.keys()].filter((name) => !names.has(name))).toEqual([]);
});

describe('task.toml is read as Harbor reads it, but for the named differences', () => {
  test.each(cases.map((one) => [one.name, one] as const))('%s', async (name, one) => {
    const bytes = one.input === undefined ? Buffer.from(one.input_base64 ?? '', 'base64') : Buffer.from(one.input);
    const differences = await compare(bytes, one, (model) => model);
    if (rowOf.has(name)) expect(differences).not.toEqual([]);
    else expect(differences).toEqual([]);
  });
});

const hasCorpus = existsSync(corpus);
describe.skipIf(!hasCorpus)(
  `real files are read as Harbor reads them${hasCorpus ? '' : ' (skipped: the corpus lies outside this repository and is not there)'}`,
  () => {
    test.each(realFiles.map((one) => [one.entry, one] as const))('%s', async (entry, one) => {
      const differences = await compare(readFileSync(path.join(corpus, entry)), one, withoutText);
      if (rowOf.has(entry)) expect(differences).not.toEqual([]);
      else expect(differences).toEqual([]);
    });
  },
);

describe('the parts of reading answer as recorded', () => {
  const of = (name: string) => calls.filter((call) => call.function === name);

  test('canaries are stripped', () => {
    for (const call of of('strip_canary')) expect(stripCanary(String(call.input)), JSON.stringify(call.input)).toBe(call.output);
  });

  test('allowed hosts are normalized', () => {
    for (const call of of('allowed_host')) {
      const expected = call.error === undefined ? (call.output as { host: string }).host : null;
      expect(normalizeAllowedHost(String(call.input)), JSON.stringify(call.input)).toBe(expected);
    }
  });

  test('step names are checked', () => {
    for (const call of of('step_name')) {
      const cell = { value: call.input, path: '', log: new MappingLog() };
      expect(stepName(cell), JSON.stringify(call.input)).toBe(call.error === undefined ? call.output : undefined);
    }
    for (const call of of('step_name_key')) expect(stepNameKey(String(call.input))).toBe(call.output);
  });

  test('deprecated sizes are read, but for those below 1 MiB and full-width digits', () => {
    for (const call of of('size_mb')) {
      const log = new MappingLog();
      const size = readSizeMb(new TableReader({ memory: call.input }, 'environment', log), 'memory');
      const isBelow = typeof call.output === 'number' && call.output < 1;
      const expected = call.error !== undefined || isBelow || call.input === '２G' ? null : call.output;
      expect(size, JSON.stringify(call.input)).toBe(expected);
      expect(log.hasErrors).toBe(expected === null);
    }
  });
});

/** Every way in which our reading of one file differs from the recorded one. */
async function compare(bytes: Uint8Array, answer: Answer, prepare: (model: unknown) => unknown): Promise<string[]> {
  const ours = await read(bytes);
  const accepted = ours.config !== null && !ours.log.hasErrors;
  if (accepted !== answer.accepted) return [`accepted: ${accepted}, recorded ${answer.accepted}: ${JSON.stringify(ours.log.issues)}`];
  if (ours.config === null) return [];
  const ignored = new Set(ours.log.account.filter((entry) => entry.fate === 'ignored').map((entry) => entry.path));
  const lost = (answer.ignored_keys ?? []).filter((key) => !ignored.has(key)).map((key) => `${key} is not ignored`);
  return [...lost, ...(accepted ? modelDifferences(prepare(plainJson(ours.config)), answer.model, '') : [])];
}

async function read(bytes: Uint8Array): Promise<{ config: HarborConfig | null; log: MappingLog }> {
  const log = new MappingLog(HARBOR_KEYS_ELSEWHERE);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { config: null, log };
  }
  const parsed = parseToml(text);
  return { config: parsed.kind === 'parsed' ? readHarborConfig(parsed.value, log, { hasTestScript: true }) : null, log };
}

/** Keys that Harbor's model has; ours holds the live ones beside them. */
function modelDifferences(ours: unknown, theirs: unknown, at: string): string[] {
  if (Array.isArray(theirs)) {
    if (!Array.isArray(ours) || ours.length !== theirs.length)
      return [`${at}: ${JSON.stringify(ours)}, recorded ${JSON.stringify(theirs)}`];
    return theirs.flatMap((item, index) => modelDifferences(ours[index], item, `${at}[${index}]`));
  }
  if (typeof theirs === 'object' && theirs !== null) {
    const table = typeof ours === 'object' && ours !== null ? (ours as Record<string, unknown>) : {};
    return Object.entries(theirs).flatMap(([key, item]) => modelDifferences(table[key], item, `${at}.${key}`));
  }
  return ours === theirs ? [] : [`${at}: ${JSON.stringify(ours)}, recorded ${JSON.stringify(theirs)}`];
}

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

/** As the fixture was written: strings of real files are replaced. */
function withoutText(value: unknown): unknown {
  if (typeof value === 'string') return KEPT.has(value) ? value : 'text';
  if (Array.isArray(value)) return value.map(withoutText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutText(item)]));
}
