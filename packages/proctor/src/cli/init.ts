import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { makeFolder } from '../compose/folders.ts';
import { taskSet } from '../compositions/init.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import type { Call } from './command.ts';
import { tell } from './tell.ts';

/** `proctor init`: writes a task set, or nothing when any of its files is there. */
export async function run(call: Call): Promise<number> {
  const folder = call.words[0] ?? '.';
  const shown = relative(process.cwd(), folder) || '.';
  const files = taskSet({ image: call.given.text('image') ?? 'debian:12-slim', folder: shown });
  const present = files.filter((file) => existsSync(join(folder, file.path)));
  if (present.length > 0) {
    const other = shown === 'my-tasks' ? 'more-tasks' : 'my-tasks';
    const names = present.map((file) => join(folder, file.path)).join(', ');
    throw new AppError(
      'conflict',
      `nothing was written: ${names} ${present.length === 1 ? 'is' : 'are'} already there. Name another folder: proctor init ${other}`,
    );
  }
  try {
    for (const file of files) {
      makeFolder(dirname(join(folder, file.path)));
      writeFileSync(join(folder, file.path), file.text, { mode: file.executable ? 0o755 : 0o644, flag: 'wx' });
    }
  } catch (cause) {
    throw new AppError('invalid_configuration', `${folder} cannot be written: ${messageOf(cause)}`, { cause });
  }
  return tell(call, { folder, files: files.map((file) => file.path) }, () => {
    const { paint } = call.terminal;
    const list = files.map((file) => `  ${join(folder, file.path)}\n`).join('');
    return `Wrote two tasks and an agent:\n${list}\nNext: ${paint.cyan(`proctor check ${shown}`)}\n`;
  });
}
