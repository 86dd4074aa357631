import type { Command } from 'commander';
import type { CommandSpec } from './command.ts';
import type { Colors } from './terminal.ts';

/** Everything that --help shows beyond the list of options: what it is for, an example, the exit codes. */
export function describeHelp(command: Command, spec: CommandSpec, paint: Colors, path: string): void {
  command.description(spec.details === undefined ? spec.summary : `${spec.summary}\n\n${spec.details}`);
  command.summary(spec.summary);
  command.configureHelp({
    showGlobalOptions: spec.load !== undefined,
    sortOptions: false,
    visibleGlobalOptions: (shown) =>
      shown.parent === null ? [] : [...rootOf(shown).options].filter((option) => option.long !== '--version'),
    subcommandTerm: (child) =>
      child.name() +
      (child.registeredArguments.length === 0
        ? ''
        : ` ${child.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`)).join(' ')}`),
    styleTitle: (text) => paint.bold(text),
    styleCommandText: (text) => paint.cyan(text),
    styleSubcommandText: (text) => paint.cyan(text),
    styleOptionText: (text) => paint.cyan(text),
  });
  command.addHelpText('after', () => footer(spec, paint, path));
}

function footer(spec: CommandSpec, paint: Colors, path: string): string {
  const parts: string[] = [];
  if (spec.examples !== undefined) {
    const lines = spec.examples.map((one) => `  ${paint.dim(`# ${one.says}`)}\n  ${one.line}`);
    parts.push(`${paint.bold(spec.examples.length === 1 ? 'Example:' : 'Examples:')}\n${lines.join('\n')}`);
  }
  if (spec.commands !== undefined) {
    parts.push(`More about one: proctor ${path}${spec.commands[0]?.name ?? ''} --help`);
  }
  const exits = Object.entries({ ...USUAL_EXITS, ...spec.exits, ...FIXED_EXITS });
  parts.push(`${paint.bold('Exit codes:')}\n${exits.map(([code, meaning]) => `  ${code.padEnd(4)} ${meaning}`).join('\n')}`);
  return `\n${parts.join('\n\n')}\n`;
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

const USUAL_EXITS = { 0: 'done', 2: 'something named is wrong, missing or refused', 3: 'the platform failed' };
const FIXED_EXITS = { 64: 'the command line is wrong', 69: 'this Node is too old', 70: 'a defect of proctor', 130: 'interrupted' };
