import { CAPABILITIES, KEEPER_CAPABILITY } from './enter.ts';

export type Walls = {
  root: string;
  hostDirectories: readonly string[];
  /** Read-only: sandbox path → host path. */
  mounts: readonly { path: string; source: string }[];
  /** Directories and files of /etc that only root may read on the host. */
  hidden: readonly { path: string; directory: boolean }[];
  ownNetwork: boolean;
};

/** Sandbox made by bubblewrap; its process 1 is `keeper`. */
export function bubblewrapArgs(walls: Walls, keeper: readonly string[]): string[] {
  return [
    '--unshare-user',
    '--uid',
    '0',
    '--gid',
    '0',
    '--unshare-pid',
    '--unshare-ipc',
    ...(walls.ownNetwork ? ['--unshare-net'] : []),
    '--die-with-parent',
    '--as-pid-1',
    '--new-session',
    '--bind',
    walls.root,
    '/',
    ...walls.hostDirectories.flatMap((path) => ['--ro-bind', path, path]),
    ...walls.hidden.flatMap(({ path, directory }) =>
      directory ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path],
    ),
    // Needed for a sysfs of the sandbox's own network to be allowed over it.
    '--ro-bind-try',
    '/sys',
    '/sys',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...walls.mounts.flatMap(({ path, source }) => ['--ro-bind', source, path]),
    '--clearenv',
    '--chdir',
    '/',
    '--cap-drop',
    'ALL',
    ...[...CAPABILITIES, KEEPER_CAPABILITY].flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`]),
    '--',
    ...keeper,
  ];
}

/**
 * Process 1: reaps what is orphaned, for as long as we hold the other end of its stdin. `cat` may be killed from inside and is then started
 * again; only the end of its input ends the sandbox.
 */
export const KEEPER = `
exec 3<&0 </dev/null
echo ready
exec >/dev/null 2>&1
while :; do cat <&3 & wait "$!" && exit 0; done
`;
