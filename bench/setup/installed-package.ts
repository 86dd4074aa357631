import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const root = path.join(import.meta.dirname, '../..');

/** Puts into `folder` what the installed package holds: its manifest, bin and a dist built now. The program's path. */
export function installPackage(folder: string): string {
  mkdirSync(folder);
  const own = path.join(root, 'packages/proctor');
  for (const name of ['bin', 'package.json']) cpSync(path.join(own, name), path.join(folder, name), { recursive: true });
  const built = spawnSync(process.execPath, [path.join(root, 'scripts/build.ts'), path.join(folder, 'dist')], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the package was not built:\n${built.stderr}`);
  return path.join(folder, 'bin/proctor.js');
}
