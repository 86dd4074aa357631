import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const source = path.join(import.meta.dirname, '..', 'src');

const contracts = ['agent', 'grader', 'report-format', 'sandbox', 'source', 'store', 'task-format'];
/** Folders with a table. None of them may import another. */
const adapters = ['agents', 'checks', 'formats', 'graders', 'report-formats', 'sandboxes', 'sources', 'stores'];
/** No Node: what the browser may import too. */
const pure = ['domain', 'api', ...contracts];

/** Who may import whom. An unlisted module fails until its row is argued for here. `domain`, contracts and itself are written out like all others. */
const table: Record<string, { ours: readonly string[]; npm: readonly string[] }> = {
  domain: { ours: [], npm: ['zod'] },
  ...Object.fromEntries(contracts.map((name) => [name, { ours: ['domain', ...contracts], npm: [] }])),
  system: { ours: ['domain'], npm: ['tar-stream', 'zod'] },
  agents: { ours: ['domain', ...contracts, 'system'], npm: ['smol-toml', 'zod'] },
  checks: { ours: ['domain'], npm: [] },
  formats: { ours: ['domain', ...contracts, 'system'], npm: ['smol-toml', 'zod'] },
  graders: { ours: ['domain', ...contracts, 'system'], npm: ['zod'] },
  'report-formats': { ours: ['domain', ...contracts, 'system'], npm: ['zod'] },
  sandboxes: { ours: ['domain', ...contracts, 'system'], npm: ['tar-stream', 'zod'] },
  sources: { ours: ['domain', ...contracts, 'system'], npm: ['zod'] },
  stores: { ours: ['domain', ...contracts, 'system'], npm: ['zod'] },
  protocols: { ours: ['domain', ...contracts, 'system'], npm: ['zod'] },
  engine: { ours: ['domain', ...contracts, 'system', 'protocols'], npm: ['diff', 'tar-stream', 'zod'] },
  api: { ours: ['domain'], npm: ['zod'] },
  operations: { ours: ['domain', ...contracts, 'engine', 'api'], npm: ['zod'] },
  compositions: { ours: ['domain', ...contracts, 'api'], npm: ['zod'] },
  cli: {
    ours: ['domain', ...contracts, 'api', 'operations', 'compositions', 'compose'],
    npm: ['commander', 'picocolors', 'smol-toml', 'zod'],
  },
  compose: { ours: ['*'], npm: [] },
};

const files = globSync('**/*.ts', { cwd: source })
  .filter((file) => !file.endsWith('.test.ts'))
  .sort()
  .map((file) => ({ file, text: readFileSync(path.join(source, file), 'utf8') }));

test('every module imports only what its row of the table allows', () => {
  const violations = files.flatMap(({ file, text }) => {
    const module = moduleOf(file);
    const row = table[module];
    if (row === undefined) return [`${file}: the module ${module} has no row in this table`];
    return importsOf(text).flatMap((specifier) => {
      if (specifier.startsWith('node:')) return pure.includes(module) ? [`${file} imports ${specifier}, and ${module} is pure`] : [];
      if (!specifier.startsWith('.'))
        return row.npm.includes(packageOf(specifier)) ? [] : [`${file} imports the package ${packageOf(specifier)}`];
      const target = moduleOf(resolved(file, specifier));
      return target === module || row.ours.includes('*') || row.ours.includes(target) ? [] : [`${file} imports ${target} (${specifier})`];
    });
  });
  expect(violations).toEqual([]);
});

test('the rest of an adapter that is a folder is private to it', () => {
  const violations = files.flatMap(({ file, text }) =>
    importsOf(text)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => resolved(file, specifier))
      .filter((target) => adapters.includes(moduleOf(target)) && target.split('/').length > 2)
      .filter((target) => {
        const owner = target.split('/').slice(0, 2).join('/');
        return (
          owner !== 'stores/migrations' &&
          !file.startsWith(`${owner}/`) &&
          file !== `${owner}.ts` &&
          !file.startsWith(`${owner}-`) &&
          file !== `${moduleOf(target)}/index.ts`
        );
      })
      .map((target) => `${file} imports ${target}`),
  );
  expect(violations).toEqual([]);
});

test('our own imports name a file that exists, with its extension', () => {
  const known = new Set(files.map(({ file }) => file));
  const violations = files.flatMap(({ file, text }) =>
    importsOf(text)
      .filter((specifier) => specifier.startsWith('.') && !known.has(resolved(file, specifier)))
      .map((specifier) => `${file} imports ${specifier}`),
  );
  expect(violations).toEqual([]);
});

test('no source file is past 300 lines', () => {
  expect(files.filter(({ text }) => text.split('\n').length - 1 > 300).map(({ file }) => file)).toEqual([]);
});

test('no module keeps mutable state of its own', () => {
  expect(files.filter(({ text }) => /^(export )?(let|var) /m.test(text)).map(({ file }) => file)).toEqual([]);
});

test('no file has a name that could hold anything', () => {
  expect(
    files
      .map(({ file }) => file)
      .filter((file) => /(^|[/-])(utils?|common|helpers|manager|service|shared|core|types|misc)([/.-]|$)/.test(file)),
  ).toEqual([]);
});

function moduleOf(file: string): string {
  const [first = ''] = file.split('/');
  return first.replace(/\.ts$/, '');
}

function resolved(file: string, specifier: string): string {
  return path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier));
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Static, type-only, side-effect and literal dynamic imports, and re-exports. */
function importsOf(text: string): string[] {
  const code = text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const statements =
    /(?:^|\s|;)(?:import|export)\s[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|\s)import\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/gm;
  return [...code.matchAll(statements)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}
