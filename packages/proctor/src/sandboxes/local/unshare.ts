import type { Walls } from './bubblewrap.ts';
import { CAPABILITIES, KEEPER_CAPABILITY } from './enter.ts';

export type UnsharePrograms = { unshare: string; setpriv: string; sh: string };

/** The same sandbox without bubblewrap: util-linux makes the namespaces, a script the mounts. Gives what follows the name of setpriv. */
export function unshareArgs(walls: Walls, programs: UnsharePrograms, keeper: readonly string[]): string[] {
  const list = (items: readonly string[]) => [String(items.length), ...items];
  return [
    '--pdeathsig',
    'KILL',
    programs.unshare,
    '--user',
    '--map-root-user',
    '--mount',
    '--ipc',
    '--pid',
    '--fork',
    '--kill-child',
    ...(walls.ownNetwork ? ['--net'] : []),
    '--',
    programs.sh,
    '-c',
    BUILD,
    'proctor',
    walls.root,
    walls.ownNetwork ? 'own' : 'host',
    ...list([...walls.hostDirectories]),
    ...list(walls.hidden.map(({ path, directory }) => `${directory ? 'd' : 'f'}${path}`)),
    ...list(walls.mounts.flatMap(({ path, source }) => [source, path])),
    programs.setpriv,
    `--bounding-set=-all,${[...CAPABILITIES, KEEPER_CAPABILITY].map((name) => `+${name}`).join(',')}`,
    '--inh-caps=-all',
    ...keeper,
  ];
}

/**
 * Runs as process 1 of the new namespaces and becomes the keeper. A bind mount is made read-only with the flags that the host's mount has, for
 * the kernel refuses to drop them here; so is every mount below it.
 */
const BUILD = `
set -e
PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1
network=$2
shift 2
read_only() {
  mount --rbind -- "$1" "$2"
  findmnt -rno TARGET,VFS-OPTIONS -R -- "$2" | while read -r target flags; do
    mount -o "remount,bind,ro,$(printf %s "$flags" | tr , '\\n' | grep -E '^(nosuid|nodev|noexec|noatime|nodiratime|relatime)$' | tr '\\n' ,)" -- "$(printf %b "$target")"
  done
}
mount --bind -- "$root" "$root"
n=$1
shift
while [ "$n" -gt 0 ]; do
  read_only "$1" "$root$1"
  shift
  n=$((n - 1))
done
n=$1
shift
while [ "$n" -gt 0 ]; do
  case $1 in
    d*) mount -t tmpfs -o ro,size=4k,mode=000 tmpfs "$root\${1#d}" ;;
    *) mount --bind /dev/null "$root\${1#f}" ;;
  esac
  shift
  n=$((n - 1))
done
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
for name in sys sysrq-trigger irq bus; do
  [ ! -e "$root/proc/$name" ] || { mount --bind "$root/proc/$name" "$root/proc/$name" && mount -o remount,bind,ro,nosuid,nodev,noexec "$root/proc/$name"; }
done
read_only /sys "$root/sys"
mount -t tmpfs -o nosuid,mode=755,size=64k tmpfs "$root/dev"
for name in null zero full random urandom tty; do
  : >"$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs "$root/dev/shm"
n=$1
shift
while [ "$n" -gt 0 ]; do
  if [ -d "$1" ]; then mkdir -p -- "$root$2"; else
    mkdir -p -- "$(dirname -- "$root$2")"
    : >>"$root$2"
  fi
  read_only "$1" "$root$2"
  shift 2
  n=$((n - 2))
done
[ "$network" = host ] || ip link set lo up
cd "$root"
mkdir .host
pivot_root . .host
umount -l /.host
rmdir /.host
cd /
exec env -i "$@"
`;
