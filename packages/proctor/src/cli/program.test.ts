import { describe, expect, test } from 'vitest';
import { AppError } from '../domain/errors.ts';
import type { CommandSpec } from './command.ts';
import { commandPath, readCommandLine } from './program.ts';
import { ROOT } from './table.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const plain = openTerminal({}, true);

function screen(): Terminal & { text: string } {
  const shown = {
    ...plain,
    text: '',
    out: (text: string) => {
      shown.text += text;
    },
    err: () => {},
  };
  return shown;
}

const read = (line: string[]) => readCommandLine(line, ROOT, screen());

function leaves(spec: CommandSpec, path: string[] = []): { path: string[]; spec: CommandSpec }[] {
  return (spec.commands ?? []).flatMap((child) => [
    ...(child.load === undefined ? [] : [{ path: [...path, child.name], spec: child }]),
    ...leaves(child, [...path, child.name]),
  ]);
}

describe('a wrong command line', () => {
  test.for<[string[], string]>([
    [['evl'], 'no command "evl" (did you mean eval?)'],
    [['eval', 'tsk'], 'no command "eval tsk" (did you mean task?)'],
    [['eval'], 'eval: expected one of experiment, task'],
    [['report', '--formt', 'json'], "unknown option '--formt' (did you mean --format?)"],
    [['report', '--format', 'jsn'], '--format: expected terminal, json, markdown, junit, found "jsn" (did you mean json?)'],
    [['eval', 'experiment'], "missing required argument 'tasks'"],
    [['eval', 'experiment', 't', '--agent'], "option '--agent <spec>' argument missing"],
    [['eval', 'experiment', 't', '--agent', ' '], '--agent: expected a value, found an empty one'],
    [['eval', 'experiment', 't', '--repeat', '0'], '--repeat: expected a whole number from 1 to 100, found "0"'],
    [['eval', 'experiment', 't', '--repeat', '101'], '--repeat: expected a whole number from 1 to 100, found "101"'],
    [['eval', 'experiment', 't', '--repeat', '2.5'], '--repeat: expected a whole number from 1 to 100, found "2.5"'],
    [['eval', 'experiment', 't', '--repeat', '0x2'], '--repeat: expected a whole number from 1 to 100, found "0x2"'],
    [['eval', 'experiment', 't', '--max-iterations', '21'], '--max-iterations: expected a whole number from 1 to 20, found "21"'],
    [['eval', 'experiment', 't', '--timeout-multiplier', '0'], '--timeout-multiplier: expected a number above 0, found "0"'],
    [['eval', 'experiment', 't', '--agent-env', 'A=b'], '--agent-env: expected the name of an environment variable'],
    [['gc', '--older-than', '30'], '--older-than: expected a time such as 30d, 12h, 15m or 20s, found "30"'],
    [['gc', '--max-size', 'ten'], '--max-size: expected a size such as 10G'],
    [['sessions', 'list', 'extra'], 'too many arguments'],
  ])('%j is refused by name', ([line, message]) => {
    const error = catching(() => read(line));
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe('usage');
    expect((error as AppError).message).toContain(message);
  });
});

test('options are read as what they are, wherever the global ones stand', () => {
  const asked = read([
    '--store',
    '/s',
    'eval',
    'experiment',
    'a',
    'b',
    '--agent',
    'x=oracle',
    '--agent',
    'nop',
    '--repeat',
    '7',
    '--no-build',
    '--no-color',
  ]);
  if (asked.kind !== 'command') throw new Error('expected a command');
  expect([asked.name, asked.words]).toEqual(['eval experiment', ['a', 'b']]);
  const { given } = asked;
  expect([given.list('agent'), given.number('repeat'), given.flag('no-build'), given.flag('fresh'), given.text('store')]).toEqual([
    ['x=oracle', 'nop'],
    7,
    true,
    false,
    '/s',
  ]);
  expect([given.flag('no-color'), given.number('limit'), given.list('include')]).toEqual([true, null, []]);
  expect(() => given.text('stoer')).toThrow('does not declare');
});

test('an option that is not given is absent, and a size or time is a number', () => {
  const asked = read(['gc', '--max-size', '1.5K', '--older-than', '36h']);
  if (asked.kind !== 'command') throw new Error('expected a command');
  expect([asked.given.number('max-size'), asked.given.number('older-than')]).toEqual([1536, 36 * 3_600_000]);
});

describe('every command', () => {
  test.for(leaves(ROOT))('$path teaches by example, tells its exit codes, and can be loaded', async ({ path, spec }) => {
    const terminal = screen();
    expect(readCommandLine([...path, '--help'], ROOT, terminal)).toEqual({ kind: 'help' });
    expect(terminal.text).toContain(spec.summary.split(' ').slice(0, 3).join(' '));
    if (spec.hidden !== true) for (const { line } of spec.examples ?? [{ line: 'an example' }]) expect(terminal.text).toContain(line);
    for (const code of ['0', '2', '3', '64', '69', '70', '130']) expect(terminal.text).toMatch(new RegExp(`^  ${code} +\\S`, 'm'));
    expect((await spec.load?.())?.run).toBeTypeOf('function');
  });
});

test('help is the same with and without the word help, and lists no hidden command', () => {
  const [one, other] = [screen(), screen()];
  readCommandLine(['help', 'eval', 'task'], ROOT, one);
  readCommandLine(['eval', 'task', '--help'], ROOT, other);
  expect(one.text).toBe(other.text);
  const all = screen();
  readCommandLine([], ROOT, all);
  expect(all.text).toContain('doctor');
  expect(all.text).not.toContain('janitor');
});

test('a failure names the command that it belongs to', () => {
  expect(commandPath(['eval', 'experiment', 'x', '--nope'], ROOT)).toBe('eval experiment');
  expect(commandPath(['--nope'], ROOT)).toBeNull();
});

function catching(work: () => unknown): unknown {
  try {
    work();
    return null;
  } catch (error) {
    return error;
  }
}
