import type { CommandSpec, OptionSpec } from './command.ts';
import { ROOT } from './table.ts';

/** The reference page of the command line, as Markdown. It says what --help says. */
export function cliReference(): string {
  const examples = (ROOT.examples ?? []).map((one) => `# ${one.says}\n${one.line}`).join('\n');
  const sections = (ROOT.commands ?? []).filter((one) => one.hidden !== true).flatMap((one) => commandSections(one, []));
  return [
    `# The command line\n\n${ROOT.summary} Every command has \`--help\`, with an example.\n`,
    `\`\`\`sh\n${examples}\n\`\`\`\n`,
    `## For every command\n\n${optionTable(ROOT.options ?? [])}`,
    PROSE,
    ...sections,
  ].join('\n');
}

function commandSections(spec: CommandSpec, path: readonly string[]): string[] {
  const name = [...path, spec.name];
  if (spec.commands !== undefined)
    return [`## proctor ${name.join(' ')}\n\n${spec.summary}\n`, ...spec.commands.flatMap((child) => commandSections(child, name))];
  const depth = path.length === 0 ? '##' : '###';
  const usage = `proctor ${name.join(' ')}${spec.arguments === undefined ? '' : ` ${spec.arguments}`}`;
  const examples = (spec.examples ?? []).map((one) => `# ${one.says}\n${one.line}`).join('\n');
  const exits = Object.entries(spec.exits ?? {}).map(([code, meaning]) => `${code} = ${meaning}`);
  return [
    [
      `${depth} ${escaped(usage)}\n`,
      `${escaped(spec.summary)}${spec.details === undefined ? '' : `\n\n${escaped(spec.details)}`}\n`,
      ...(examples === '' ? [] : [`\`\`\`sh\n${examples}\n\`\`\`\n`]),
      ...(spec.options === undefined ? [] : [optionTable(spec.options)]),
      ...(exits.length === 0 ? [] : [`Exit codes: ${exits.join('; ')}.\n`]),
    ].join('\n'),
  ];
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map(
    (one) => `| \`${one.flags}\` | ${escaped(one.summary)}${one.choices === undefined ? '' : ` (${one.choices.join(', ')})`} |`,
  );
  return `| option | |\n|---|---|\n${rows.join('\n')}\n`;
}

/** What would be an HTML tag or end a table cell. */
function escaped(text: string): string {
  return text.replaceAll('<', '\\<').replaceAll('|', '\\|');
}

const PROSE = `## What holds everywhere

- Results go to stdout, everything else to stderr: progress, warnings, errors. \`--json\` makes stdout one JSON value, errors too:
  \`{ "error": { "code", "message", "details" } }\`.
- Exit codes are those of [exit-codes.md](exit-codes.md). A command line that cannot be read exits 64 and names the option that was meant.
- On a terminal an experiment has one live line for each running trial; elsewhere one dated line for each happening.
- Ctrl-C (also SIGTERM and SIGHUP) stops cleanly: running trials are interrupted, their sandboxes removed, finished trials kept, exit 130. A second one leaves at
  once, and the janitor removes the rest.
- No text of a task or an agent can move the cursor or change colours: what would is written out, as in \`\\x1b\`.

## An experiment as a file

\`proctor eval experiment proctor.toml\` takes everything from a file that can be reviewed in git; \`--write-config\` writes it from flags. A flag beside the
file outranks it. Paths in it are relative to the file. An unknown key is an error with its line.

\`\`\`toml
tasks = "./tasks"            # or a list
repeat = 3
experiment = "nightly"       # left out: made from tasks, environment and settings

[lanes]                      # label = what --agent takes
oracle = "oracle"
mine = "command:./my-agent.sh"

[environment]                # use = "a stored one"; the other keys change it
sandbox = "docker"
network = "none"

[settings]                   # the other flags, with underscores
max_iterations = 2
max_attempts = 3
include = ["easy-*"]
agent_env = ["MY_AGENT_MODE"]
accept_retries = true
\`\`\`
`;
