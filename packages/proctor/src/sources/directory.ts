import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../domain/errors.ts';
import type { DiscoveredFolder, DiscoverOptions, Source } from '../source.ts';
import { HostTaskFolder } from './task-folder.ts';

/** Never looked into: they hold no tasks of anyone, and may hold very many files. */
const SKIPPED = new Set(['.git', 'node_modules']);

/** A folder of this host, itself a task or searched for tasks. Links below it are not followed. */
export const directory: Source = {
  summary: 'a folder: a task, or folders of tasks at any depth',
  accepts: async (reference) => statSync(reference, { throwIfNoEntry: false }) !== undefined,
  discover: async (reference, options) => {
    const path = realpathSync(reference);
    if (statSync(path).isDirectory()) return search(path, options);
    return options.markers.includes(basename(path)) ? search(dirname(path), options) : [];
  },
};

function search(root: string, options: DiscoverOptions): DiscoveredFolder[] {
  const found: DiscoveredFolder[] = [];
  const waiting = [root];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entries = list(path, options);
    const marker = options.markers.find((name) => entries.some((entry) => entry.name === name));
    if (marker !== undefined) {
      found.push({ folder: new HostTaskFolder(path, entries), marker, commit: null });
      continue;
    }
    if (entries.some((entry) => entry.name === 'instruction.md')) {
      options.onRejected?.({ path, reason: `it has instruction.md and no ${options.markers.join(' or ')}` });
    }
    const below = entries.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name));
    for (const entry of entries) if (entry.isSymbolicLink()) rejectLink(join(path, entry.name), options);
    waiting.push(...below.map((entry) => join(path, entry.name)).reverse());
  }
  return found.sort((left, right) => compare(left.folder.root, right.folder.root));
}

function list(path: string, options: DiscoverOptions): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((left, right) => compare(left.name, right.name));
  } catch (error) {
    options.onRejected?.({ path, reason: `it cannot be read: ${messageOf(error)}` });
    return [];
  }
}

function rejectLink(path: string, options: DiscoverOptions): void {
  const isTask = options.markers.some((marker) => lstatSync(join(path, marker), { throwIfNoEntry: false }) !== undefined);
  if (isTask) options.onRejected?.({ path, reason: 'it is a link, and links are not followed: name its target' });
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
