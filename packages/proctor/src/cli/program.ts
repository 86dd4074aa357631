import { Command, CommanderError, Option } from 'commander';
import { AppError } from '../domain/errors.ts';
import { didYouMean } from '../domain/mapping/did-you-mean.ts';
import type { CommandSpec, OptionSpec, Run } from './command.ts';
import { Given, longName } from './given.ts';
import { describeHelp } from './help.ts';
import type { Terminal } from './terminal.ts';

/** What the command line asks for. */
export type Asked =
  | { kind: 'help' }
  | { kind: 'version'; store: string | null }
  | { kind: 'command'; name: string; words: string[]; given: Given; load: () => Promise<{ run: Run }> };

/** Reads a command line against the table; help is written as it is asked for. Errors: usage. */
export function readCommandLine(argv: readonly string[], root: CommandSpec, terminal: Terminal): Asked {
  const asked: Asked[] = [];
  const line = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  const program = build(root, '', { terminal, line, global: root.options ?? [], ask: (one) => void asked.push(one) });
  try {
    program.parse(line, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: 'help' };
    throw new AppError('usage', sentence(error.message), { cause: error });
  }
  const options = program.opts<Record<string, unknown>>();
  if (options.version === true) return { kind: 'version', store: typeof options.store === 'string' ? options.store : null };
  const found = asked[0];
  if (found !== undefined) return found;
  if (line.every((word) => word.startsWith('-'))) program.outputHelp();
  return { kind: 'help' };
}

/** The command that a line names, as far as it names one. */
export function commandPath(argv: readonly string[], root: CommandSpec): string | null {
  const path: string[] = [];
  let spec: CommandSpec | undefined = root;
  for (const word of argv.filter((one) => !one.startsWith('-'))) {
    spec = spec?.commands?.find((child) => child.name === word);
    if (spec === undefined) break;
    path.push(word);
  }
  return path.length === 0 ? null : path.join(' ');
}

type Reading = { terminal: Terminal; line: readonly string[]; global: readonly OptionSpec[]; ask: (asked: Asked) => void };

function build(spec: CommandSpec, path: string, reading: Reading): Command {
  const { terminal, line, global, ask } = reading;
  const command = new Command(spec.name).exitOverride().helpCommand(false).helpOption('-h, --help', 'this text');
  command.configureOutput({
    writeOut: (text) => terminal.out(text),
    writeErr: () => undefined,
    getOutHelpWidth: () => Math.min(terminal.columns, 110),
    getOutHasColors: () => terminal.paint.isColorSupported,
  });
  describeHelp(command, spec, terminal.paint, path);
  if (spec.arguments !== undefined) command.arguments(spec.arguments);
  for (const option of spec.options ?? []) command.addOption(toOption(option));
  for (const child of spec.commands ?? []) {
    // Most commands of a line are not the one that it names: their line in the help is all that they need.
    const built = line.includes(child.name) ? build(child, `${path}${child.name} `, reading) : inHelp(child);
    command.addCommand(built, { hidden: child.hidden === true });
  }
  const load = spec.load;
  const declared = [...(spec.options ?? []), ...global].map((option) => longName(option.flags));
  if (load !== undefined) {
    command.action(() => {
      const values = { ...command.optsWithGlobals<Record<string, unknown>>() };
      ask({ kind: 'command', name: path.trim(), words: command.args, given: new Given(values, declared), load });
    });
  } else if (path !== '') {
    command.action(() => {
      if (command.args.length > 0) throw new AppError('usage', unknownCommand(command.args[0] ?? '', spec, path));
      throw new AppError('usage', `${path.trim()}: expected one of ${(spec.commands ?? []).map((one) => one.name).join(', ')}`);
    });
  } else {
    command.action(() => {
      if (command.args.length > 0) throw new AppError('usage', unknownCommand(command.args[0] ?? '', spec, ''));
    });
  }
  if (load === undefined) command.allowExcessArguments(true);
  return command;
}

function inHelp(spec: CommandSpec): Command {
  const command = new Command(spec.name).summary(spec.summary).description(spec.summary);
  return spec.arguments === undefined ? command : command.arguments(spec.arguments);
}

function toOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.summary);
  const flag = longName(spec.flags);
  const read = spec.value ?? ((text: string) => text);
  const choices = spec.choices;
  const value = choices === undefined ? read : (text: string) => oneOf(choices, text, flag);
  if (option.required) {
    option.argParser((text: string, before: unknown) => {
      if (spec.repeats !== true) return value(text, flag);
      return [...(Array.isArray(before) ? before : []), value(text, flag)];
    });
  }
  if (spec.group !== undefined) option.helpGroup(spec.group);
  return option;
}

function oneOf(choices: readonly string[], text: string, flag: string): string {
  if (choices.includes(text)) return text;
  throw new AppError('usage', `--${flag}: expected ${choices.join(', ')}, found ${JSON.stringify(text)}${meant(text, choices)}`);
}

function unknownCommand(word: string, spec: CommandSpec, path: string): string {
  const names = (spec.commands ?? []).map((one) => one.name);
  return `no command ${JSON.stringify(`${path}${word}`)}${meant(word, names)}`;
}

/** ` (did you mean list?)`, or nothing. */
export function meant(word: string, known: readonly string[]): string {
  const near = didYouMean(word, known);
  return near === null ? '' : ` (did you mean ${near}?)`;
}

/** commander's `error: unknown option '--x'\n(Did you mean --y?)` as one sentence. */
function sentence(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean/, ' (did you mean')
    .trim();
}
