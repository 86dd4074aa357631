import { readFile } from 'node:fs/promises';
import { bubblewrapArgs, type Walls } from './bubblewrap.ts';
import type { EnterPrograms } from './enter.ts';
import { HOST_DIRECTORIES } from './layout.ts';
import { findProgram } from './programs.ts';
import { unshareArgs } from './unshare.ts';

/** A way to make the namespaces and their mounts: the host program and its arguments. */
export type Maker = { name: string; command(walls: Walls, keeper: readonly string[]): { file: string; args: string[] } };

type Environment = Readonly<Record<string, string | undefined>>;

/** What this host has, best first. */
export function makersOf(environment: Environment, programs: EnterPrograms): Maker[] {
  const makers: Maker[] = [];
  const bwrap = findProgram('bwrap', environment);
  if (bwrap !== null)
    makers.push({ name: 'bubblewrap', command: (walls, keeper) => ({ file: bwrap, args: bubblewrapArgs(walls, keeper) }) });
  const unshare = findProgram('unshare', environment);
  if (unshare !== null) {
    const tools = { unshare, setpriv: programs.setpriv, sh: programs.sh };
    makers.push({ name: 'unshare', command: (walls, keeper) => ({ file: programs.setpriv, args: unshareArgs(walls, tools, keeper) }) });
  }
  return makers;
}

/** The programs that entering needs, or the sentence that says which are missing. */
export function enterPrograms(environment: Environment): EnterPrograms | string {
  if (findProgram('bwrap', environment) === null && findProgram('unshare', environment) === null) return NO_MAKER;
  // What runs inside must lie where the host's own directories are mounted.
  const inner = { PATH: [...INNER_PATHS, ...(environment.PATH ?? '').split(':').filter(isMounted)].join(':') };
  const nsenter = findProgram('nsenter', environment);
  const [setpriv, setsid, sh, env, tar] = ['setpriv', 'setsid', 'sh', 'env', 'tar'].map((name) => findProgram(name, inner));
  if (nsenter && setpriv && setsid && sh && env && tar) return { nsenter, setpriv, setsid, sh, env };
  const missing = Object.entries({ nsenter, setpriv, setsid, sh, env, tar }).flatMap(([name, path]) => (path ? [] : [name]));
  return `the local sandbox needs ${missing.join(', ')} on PATH: apt-get install util-linux coreutils tar`;
}

const INNER_PATHS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

function isMounted(place: string): boolean {
  return HOST_DIRECTORIES.some((directory) => place === directory || place.startsWith(`${directory}/`));
}

export const NO_MAKER = 'the local sandbox needs bwrap or unshare on PATH: apt-get install bubblewrap';

/** Why this host refuses the namespaces, with the line that lets it. `complaint` is what the program that tried said. */
export async function refusalSentence(complaint: string): Promise<string> {
  const said = complaint.trim().split('\n').at(-1) ?? '';
  for (const [file, closed, remedy] of SETTINGS) {
    const value = (await readFile(`/proc/sys/${file}`, 'utf8').catch(() => '')).trim();
    if (value === closed) return `this host denies user namespaces (${said}): ${remedy}`;
  }
  return `this host denies the namespaces of a local sandbox (${said}): in a container, start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, else use --sandbox docker`;
}

const SETTINGS = [
  ['kernel/unprivileged_userns_clone', '0', 'sysctl -w kernel.unprivileged_userns_clone=1'],
  ['kernel/apparmor_restrict_unprivileged_userns', '1', 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0'],
  ['user/max_user_namespaces', '0', 'sysctl -w user.max_user_namespaces=10000'],
] as const;
