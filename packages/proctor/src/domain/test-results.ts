import { z } from 'zod';

export type TestCounts = { total: number; passed: number; failed: string[] };

const Ctrf = z.looseObject({
  results: z.looseObject({ tests: z.array(z.looseObject({ name: z.string(), status: z.string() })).max(100_000) }),
});

/** Per-test results where a verifier left a summary: a CTRF file, a JUnit file, or pytest's own last lines. Null = none was left. Never decides a verdict. */
export function readTestResults(files: ReadonlyMap<string, Uint8Array | null>, output: string): TestCounts | null {
  return fromCtrf(files) ?? fromJUnit(files) ?? fromPytest(output);
}

function fromCtrf(files: ReadonlyMap<string, Uint8Array | null>): TestCounts | null {
  const bytes = [...files].find(([path]) => /(^|\/)ctrf[^/]*\.json$/i.test(path))?.[1];
  if (bytes == null) return null;
  try {
    const parsed = Ctrf.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    if (!parsed.success) return null;
    const counted = parsed.data.results.tests.filter((test) => test.status !== 'skipped' && test.status !== 'pending');
    return counts(counted.map((test) => ({ name: test.name, passed: test.status === 'passed' })));
  } catch {
    return null;
  }
}

function fromJUnit(files: ReadonlyMap<string, Uint8Array | null>): TestCounts | null {
  const bytes = [...files].find(([path]) => /(^|\/)(junit|results?|test-results)[^/]*\.xml$/i.test(path))?.[1];
  if (bytes == null) return null;
  const text = new TextDecoder().decode(bytes);
  const cases = [...text.matchAll(/<testcase\b([^>]*?)(\/>|>([\s\S]*?)<\/testcase>)/g)];
  if (cases.length === 0) return null;
  const tests = cases
    .filter((match) => !/<skipped\b/.test(match[3] ?? ''))
    .map((match) => ({
      name: /\bname="([^"]*)"/.exec(match[1] ?? '')?.[1] ?? '(unnamed)',
      passed: !/<(failure|error)\b/.test(match[3] ?? ''),
    }));
  return counts(tests);
}

function fromPytest(output: string): TestCounts | null {
  const lines = output.split('\n').filter((line) => /^(PASSED|FAILED|ERROR) \S/.test(line));
  const summary = [...output.matchAll(/^=+ .*?\b(\d+ (?:passed|failed|error)[^=]*?) in [\d.]+s.*=+\s*$/gm)].at(-1)?.[1];
  if (summary === undefined) return null;
  const number = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(summary)?.[1] ?? 0);
  const failed = lines.filter((line) => !line.startsWith('PASSED')).map((line) => line.split(/\s+/)[1] ?? line);
  const bad = number('failed') + number('errors?');
  return { total: number('passed') + bad, passed: number('passed'), failed: failed.slice(0, 200) };
}

function counts(tests: { name: string; passed: boolean }[]): TestCounts {
  return {
    total: tests.length,
    passed: tests.filter((test) => test.passed).length,
    failed: tests
      .filter((test) => !test.passed)
      .map((test) => test.name)
      .slice(0, 200),
  };
}
