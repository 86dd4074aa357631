import { AppError } from '../domain/errors.ts';
import type { Call, CommandSpec, OptionSpec } from './command.ts';
import { longName } from './given.ts';
import { meant } from './program.ts';
import { ROOT } from './table.ts';

/** `proctor completion`: a script made from the table, so that pressing Tab starts no Node. */
export async function run({ words, terminal }: Call): Promise<number> {
  const shell = words[0] ?? '';
  const script = SCRIPTS[shell];
  if (script === undefined)
    throw new AppError(
      'usage',
      `completion: expected bash, zsh or fish, found ${JSON.stringify(shell)}${meant(shell, Object.keys(SCRIPTS))}`,
    );
  terminal.out(script());
  return 0;
}

type Place = { path: string; words: string[]; options: readonly OptionSpec[] };

const SCRIPTS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** Every command with what may follow it. */
function places(spec: CommandSpec = ROOT, path = ''): Place[] {
  const words = spec.name === 'completion' ? Object.keys(SCRIPTS) : shown(spec).map((child) => child.name);
  const options = spec === ROOT ? (ROOT.options ?? []) : [...(spec.options ?? []), ...(spec.load === undefined ? [] : GLOBAL)];
  return [{ path, words, options: [...options, HELP] }, ...shown(spec).flatMap((child) => places(child, `${path} ${child.name}`.trim()))];
}

function shown(spec: CommandSpec): readonly CommandSpec[] {
  return (spec.commands ?? []).filter((child) => child.hidden !== true);
}

function bash(): string {
  const choices = places().flatMap((place) =>
    place.options
      .filter((one) => one.choices !== undefined)
      .map((one) => `    "${place.path}|--${longName(one.flags)}") words="${(one.choices ?? []).join(' ')}" ;;\n`),
  );
  return `# bash completion of proctor: source <(proctor completion bash)
_proctor() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="" word words=""
  local index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$path \${word}" in
${places()
  .filter((one) => one.path !== '')
  .map((one) => `      "${parentOf(one.path)} ${lastOf(one.path)}") path="${one.path}" ;;\n`)
  .join('')}    esac
  done
  case "$path|$before" in
${choices.join('')}  esac
  if [ -z "$words" ]; then
    case "$path" in
${places()
  .map((one) => `      "${one.path}") words="${wordsOf(one).join(' ')}" ;;\n`)
  .join('')}    esac
    case "$current" in -*) ;; *) words="$(printf '%s\\n' $words | grep -v '^-')" ;; esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -o bashdefault -F _proctor proctor
`;
}

function zsh(): string {
  const functions = places().map((place) => {
    const options = place.options.map(
      (one) =>
        `      ${quote(`${one.repeats === true ? '*' : ''}--${longName(one.flags)}[${one.summary.replace(/[[\]:]/g, '\\$&')}]${zshValue(one)}`)}`,
    );
    const rest = place.words.length > 0 ? quote(`1:command:(${place.words.join(' ')})`) : quote('*:file:_files');
    return `    ${quote(place.path)})\n      _arguments \\\n${[...options, `      ${rest}`].join(' \\\n')} ;;\n`;
  });
  return `#compdef proctor
# zsh completion of proctor: proctor completion zsh > "\${fpath[1]}/_proctor"
_proctor() {
  local path_of_command="" word
  local -i index=2 used=1
  while (( index < CURRENT )); do
    word="$words[index]"
    case "$path_of_command $word" in
${places()
  .filter((one) => one.path !== '')
  .map((one) => `      ${quote(`${parentOf(one.path)} ${lastOf(one.path)}`)}) path_of_command=${quote(one.path)}; used=$index ;;\n`)
  .join('')}    esac
    (( index++ ))
  done
  words=("\${(@)words[used,-1]}")
  (( CURRENT -= used - 1 ))
  case "$path_of_command" in
${functions.join('')}  esac
}
if [ "$funcstack[1]" = "_proctor" ]; then _proctor "$@"; else compdef _proctor proctor; fi
`;
}

function fish(): string {
  const lines = places().flatMap((place) => {
    const condition = `-n '__proctor_at ${quoteWords(place.path)}'`;
    const commands = place.words.map(
      (word) => `complete -c proctor -f ${condition} -a ${quote(word)} -d ${quote(summaryOf(place.path, word))}`,
    );
    const options = place.options.map((one) => {
      const value = !one.flags.includes('<')
        ? ''
        : one.choices !== undefined
          ? ` -x -a ${quote(one.choices.join(' '))}`
          : one.path === true
            ? ' -r'
            : ' -x';
      return `complete -c proctor ${condition} -l ${longName(one.flags)}${value} -d ${quote(one.summary)}`;
    });
    return [...commands, ...options];
  });
  const paths = places()
    .map((one) => quote(one.path))
    .join(' ');
  return `# fish completion of proctor: proctor completion fish > ~/.config/fish/completions/proctor.fish
function __proctor_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$path $word")
    contains -- "$next" ${paths}; and set path "$next"
  end
  test "$path" = (string join ' ' -- $argv)
end
${lines.join('\n')}
`;
}

function zshValue(option: OptionSpec): string {
  if (!option.flags.includes('<')) return '';
  if (option.choices !== undefined) return `:value:(${option.choices.join(' ')})`;
  return option.path === true ? ':path:_files' : ':value:';
}

function wordsOf(place: Place): string[] {
  return [...place.words, ...place.options.map((one) => `--${longName(one.flags)}`)];
}

function summaryOf(path: string, word: string): string {
  let spec: CommandSpec | undefined = ROOT;
  for (const name of path.split(' ').filter((one) => one !== '')) spec = spec?.commands?.find((child) => child.name === name);
  return spec?.commands?.find((child) => child.name === word)?.summary ?? word;
}

function parentOf(path: string): string {
  return path.split(' ').slice(0, -1).join(' ');
}

function lastOf(path: string): string {
  return path.split(' ').at(-1) ?? '';
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** fish: words inside an already quoted condition. */
function quoteWords(path: string): string {
  return path === '' ? '""' : path;
}

const HELP: OptionSpec = { flags: '--help', summary: 'help of this command' };
const GLOBAL: readonly OptionSpec[] = (ROOT.options ?? []).filter((option) => !option.flags.includes('--version'));
