import fc from 'fast-check';
import { parse, TomlError } from 'smol-toml';
import { expect, test } from 'vitest';
import { AppError } from '../domain/errors.ts';
import { type ExperimentFile, type ReadToml, readExperimentFile, writeExperimentFile } from './experiment-file.ts';

const readToml: ReadToml = async (text) => {
  try {
    return {
      kind: 'parsed',
      value: parse(text),
      at: (path) =>
        path === '' ? null : { line: 1 + text.split('\n').findIndex((one) => one.startsWith(path.split('.').at(-1) ?? '')), column: 1 },
    };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { kind: 'failed', message: error.message, line: error.line, column: error.column };
  }
};

async function issuesOf(text: string): Promise<unknown> {
  const error = await readExperimentFile(text, 'proctor.toml', readToml).then(
    () => null,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe('invalid_configuration');
  return (error as AppError).details.issues;
}

test('what is written is read back', async () => {
  const file: ExperimentFile = {
    tasks: ['./tasks', 'other "quoted" \u007f\u0001 folder'],
    repeat: 3,
    lanes: { oracle: 'oracle', mine: 'command:["./run.sh", "a b"]' },
    environment: { sandbox: 'docker', network: 'none', build: false },
    settings: { max_iterations: 2, timeout_multiplier: 1.5, include: ['a-*'], accept_retries: true },
  };
  expect(await readExperimentFile(writeExperimentFile(file), 'proctor.toml', readToml)).toEqual(file);
});

test('any text survives being written and read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, unit: 'grapheme' }), async (text) => {
      const file = { tasks: text, settings: { reward_key: text } };
      expect(await readExperimentFile(writeExperimentFile(file), 'proctor.toml', readToml)).toEqual(file);
    }),
    { numRuns: 200 },
  );
});

test('every wrong key is told at once, with its place and the key that was meant', async () => {
  expect(await issuesOf('tasks = "t"\nrepeats = 3\n[settings]\nmax_iteration = 2\nlimit = 0\n')).toEqual([
    expect.objectContaining({ path: 'settings.limit', found: '0', place: { file: 'proctor.toml', line: 5, column: 1 } }),
    expect.objectContaining({
      path: 'settings.max_iteration',
      hint: 'Did you mean max_iterations?',
      place: { file: 'proctor.toml', line: 4, column: 1 },
    }),
    expect.objectContaining({ path: 'repeats', hint: 'Did you mean repeat?', place: { file: 'proctor.toml', line: 2, column: 1 } }),
  ]);
});

test('a file without tasks and a label that is none are refused', async () => {
  expect(await issuesOf('[lanes]\n"My Lane" = "oracle"\n')).toEqual([
    expect.objectContaining({ path: 'tasks', message: 'this key is missing' }),
    expect.objectContaining({ path: 'lanes."My Lane"', message: expect.stringContaining('label') }),
  ]);
});

test('text that is no TOML is refused at its line', async () => {
  expect(await issuesOf('tasks = "t"\nrepeat = \n')).toEqual([
    expect.objectContaining({ path: '', place: expect.objectContaining({ line: 2 }) }),
  ]);
});
