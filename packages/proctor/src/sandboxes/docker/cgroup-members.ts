import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const MOUNT = '/sys/fs/cgroup';

/**
 * The processes of a container by its control group: one small file instead of every process of the host. Null = the group cannot be found from here
 * (another mount, another namespace), and only a whole look will do.
 */
export function cgroupMembers(mainPid: number, containerId: string): number[] | null {
  try {
    for (const line of readFileSync(`/proc/${mainPid}/cgroup`, 'utf8').split('\n')) {
      const [, controllers = '', place = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      if (!place.includes(containerId)) continue;
      for (const folder of foldersOf(controllers, place)) {
        const found = membersOf(folder);
        if (found?.includes(mainPid)) return found;
      }
    }
    return null;
  } catch {
    return null;
  }
}

function foldersOf(controllers: string, place: string): string[] {
  if (controllers === '') return [path.join(MOUNT, place), path.join(MOUNT, 'unified', place)];
  return [path.join(MOUNT, controllers.replace(/^name=/, ''), place)];
}

function membersOf(folder: string): number[] | null {
  let text: string;
  try {
    text = readFileSync(path.join(folder, 'cgroup.procs'), 'utf8');
  } catch {
    return null;
  }
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const own = text.split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]));
  return [...own, ...below.flatMap((entry) => membersOf(path.join(folder, entry.name)) ?? [])];
}
