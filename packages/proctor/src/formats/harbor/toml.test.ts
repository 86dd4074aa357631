import fc from 'fast-check';
import { stringify } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { childPath, itemPath } from '../../domain/mapping/key-path.ts';
import { isTable } from '../../domain/mapping/plain-json.ts';
import { parseToml } from './toml.ts';

const SOURCE = `# top
name = "x" # not [a.table]
'quoted key'.inner = 1
artifacts = [
  "/a", # one
  { source = "/b", exclude = ["]"] },
]

[environment]
  env = { A = "b]", "C D" = '''x'y''' }
text = """
[no.table]
key = "no\\"key" """
cpus = 2

[[steps]]
name = "one"
[steps.agent]
user = "a"
[[steps]]
[steps.verifier]
timeout_sec = 1
`;

describe('positions', () => {
  const parsed = parseToml(SOURCE);
  if (parsed.kind === 'failed') throw new Error(parsed.message);

  test.each([
    ['name', 2, 1],
    ['"quoted key"', 3, 1],
    ['"quoted key".inner', 3, 14],
    ['artifacts[0]', 5, 3],
    ['artifacts[1].source', 6, 5],
    ['artifacts[1].exclude[0]', 6, 31],
    ['environment', 9, 2],
    ['environment.env', 10, 3],
    ['environment.env."C D"', 10, 21],
    ['environment.text', 11, 1],
    ['environment.cpus', 14, 1],
    ['steps[0].name', 17, 1],
    ['steps[0].agent.user', 19, 1],
    ['steps[1].verifier.timeout_sec', 22, 1],
  ])('%s is at %i:%i', (path, line, column) => {
    expect(parsed.at(path)).toEqual({ line, column });
  });

  test('a key that is not written is at the nearest one above it', () => {
    expect(parsed.at('environment.missing.deep[3]')).toEqual({ line: 9, column: 2 });
    expect(parsed.at('nothing')).toBeNull();
  });

  test('a byte order mark and CRLF move nothing', () => {
    const marked = parseToml(`\uFEFF${SOURCE.replaceAll('\n', '\r\n')}`);
    expect(marked.kind === 'parsed' && [marked.hasByteOrderMark, marked.at('environment.cpus')]).toEqual([true, { line: 14, column: 1 }]);
  });

  test('every key of a written file has its own position', () => {
    const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant('a"""b\n[x]\n'));
    const { table } = fc.letrec<{ table: Record<string, unknown> }>((tie) => ({
      table: fc.dictionary(
        fc.string({ minLength: 1 }).filter((key) => key.isWellFormed() && key !== '__proto__'),
        fc.oneof({ maxDepth: 3 }, scalar, fc.array(scalar, { maxLength: 3 }), tie('table'), fc.array(tie('table'), { maxLength: 2 })),
        { maxKeys: 4 },
      ),
    }));
    fc.assert(
      fc.property(table, (value) => {
        const written = parseToml(stringify(value));
        if (written.kind === 'failed') throw new Error(written.message);
        for (const path of pathsOf(written.value, '')) expect(written.positions().has(path), path).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

test('a syntax error has line and column', () => {
  expect(parseToml('[agent]\ntimeout_sec =\n')).toMatchObject({ kind: 'failed', line: 2, column: 14 });
});

test('no text throws or hangs', () => {
  const lines = SOURCE.split('\n');
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...lines, '"""', "'''", '[', '{', '= [[', '\u0000'), fc.string()), { maxLength: 20 }),
      fc.nat(400),
      (parts, cut) => {
        const text = parts.join('\n').slice(0, -cut || undefined);
        const parsed = parseToml(text);
        if (parsed.kind === 'parsed') parsed.at('environment.cpus');
        expect(['parsed', 'failed']).toContain(parsed.kind);
      },
    ),
    { numRuns: 500 },
  );
});

test('nesting ends in an error, not in the end of the stack', () => {
  expect(parseToml(`a = ${'['.repeat(100_000)}`).kind).toBe('failed');
  expect(parseToml(`a = ${'{ a = '.repeat(100_000)}`).kind).toBe('failed');
});

function pathsOf(value: unknown, path: string): string[] {
  if (isTable(value)) return Object.entries(value).flatMap(([key, item]) => [childPath(path, key), ...pathsOf(item, childPath(path, key))]);
  if (Array.isArray(value)) return value.flatMap((item, index) => [itemPath(path, index), ...pathsOf(item, itemPath(path, index))]);
  return [];
}
