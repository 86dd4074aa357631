/** What a root user of the sandbox may do: what containers usually allow, without making devices or nested users. */
export const CAPABILITIES = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'net_bind_service',
  'net_raw',
  'setgid',
  'setpcap',
  'setuid',
  'sys_chroot',
];

/** Process 1 alone has it: nothing inside may therefore trace it, read its memory or its environment. */
export const KEEPER_CAPABILITY = 'wake_alarm';

/** Host programs that entering needs, by absolute path; the last three also lie in the sandbox at the same place. */
export type EnterPrograms = { nsenter: string; setpriv: string; setsid: string; sh: string; env: string };

export type Entrance = { pid: number; ownNetwork: boolean; programs: EnterPrograms };

/**
 * A program inside, as a child of the sandbox's own process 1's namespace. `nsenter` itself gets an empty environment: one given by a task could
 * make it load the sandbox's libraries while it still holds every capability. What the program gets travels under names that mean nothing,
 * and is named rightly after the capabilities are gone.
 */
export function enterArgv(
  entrance: Entrance,
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): { args: string[]; env: Record<string, string> } {
  const { programs } = entrance;
  const carried: Record<string, string> = {};
  const named: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (isPlainName(name)) carried[`_P${Object.keys(carried).length}`] = `${name}=${value}`;
    else named.push(`${name}=${value}`);
  }
  const args = [
    ...wayIn(entrance),
    programs.setsid,
    programs.sh,
    '-c',
    PRELUDE,
    'proctor',
    cwd,
    String(Object.keys(carried).length),
    String(argv[0]),
    ...(named.length > 0 ? [programs.env, ...named] : []),
    ...argv,
  ];
  return { args, env: carried };
}

/** A command line for a terminal of the host. */
export function shellArgv(entrance: Entrance, cwd: string, words: readonly string[], command: readonly string[]): string[] {
  const { nsenter, env, sh } = entrance.programs;
  return [nsenter, ...wayIn(entrance), env, '-i', ...words, sh, '-c', 'cd -- "$1" && shift && exec "$@"', 'proctor', cwd, ...command];
}

function wayIn({ pid, ownNetwork, programs }: Entrance): string[] {
  const kept = CAPABILITIES.map((name) => `+${name}`).join(',');
  const network = ownNetwork ? ['--net'] : [];
  const spaces = [`--target=${pid}`, '--user', '--preserve-credentials', '--mount', '--ipc', '--pid', ...network];
  return [...spaces, '--', programs.setpriv, `--bounding-set=-all,${kept}`, '--inh-caps=-all', '--no-new-privs'];
}

/**
 * A program of ours in the sandbox's filesystem, but in the host's pid namespace: nothing inside sees it or can signal it. All paths it is
 * given are followed inside, so a link planted there never leads out.
 */
export function helperArgv(entrance: Entrance, argv: readonly string[]): string[] {
  return [`--target=${entrance.pid}`, '--user', '--preserve-credentials', '--mount', '--', ...argv];
}

/** Shells give these a meaning of their own; they travel as arguments of env(1). */
const SHELL_NAMES = new Set([
  '_',
  'IFS',
  'OPTIND',
  'OPTARG',
  'PPID',
  'UID',
  'EUID',
  'GROUPS',
  'PS4',
  'ENV',
  'LINENO',
  'RANDOM',
  'SECONDS',
  'SHLVL',
  'PWD',
  'OLDPWD',
  'SHELLOPTS',
  'FUNCNAME',
  'DIRSTACK',
]);

function isPlainName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !/^_P\d/.test(name) && !name.startsWith('BASH') && !SHELL_NAMES.has(name);
}

/**
 * Builtins only. Arguments: directory, count of variables, name of the program to look for, then the command. Descriptor 3 tells why a program
 * cannot be started. Under memory pressure the kernel is to choose this tree before the one that watches it.
 */
const PRELUDE = `
echo 500 >/proc/self/oom_score_adj
cd -- "$1" 2>/dev/null || { printf 'no such directory: %s' "$1" >&3; exit 127; }
_Pn=$2
_Pc=$3
shift 3
_Pi=0
while [ "$_Pi" -lt "$_Pn" ]; do eval "export \\"\\$_P$_Pi\\"; unset _P$_Pi"; _Pi=$((_Pi + 1)); done
unset _Pi _Pn OLDPWD
_Pf=
set -f
case $_Pc in
  */*) [ -f "$_Pc" ] && _Pf=$_Pc ;;
  *)
    IFS=:
    for _Pd in $PATH; do [ -f "$_Pd/$_Pc" ] && { _Pf=$_Pd/$_Pc; [ -x "$_Pf" ] && break; }; done
    unset IFS
    ;;
esac
[ -n "$_Pf" ] || { printf 'program not found: %s' "$_Pc" >&3; exit 127; }
[ -x "$_Pf" ] || { printf 'not executable: %s' "$_Pf" >&3; exit 126; }
unset _Pf _Pd _Pc
exec 3>&-
exec "$@"
`;
