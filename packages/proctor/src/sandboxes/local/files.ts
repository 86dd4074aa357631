import { spawn } from 'node:child_process';
import { posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, messageOf } from '../../domain/errors.ts';

/** A host program and its arguments that runs tar (or another tool) in the sandbox's own view of the files. */
export type ToolArgv = (argv: readonly string[]) => { file: string; args: string[]; env: Record<string, string>; cwd?: string };

/** Extracts below `directory`; entries replace what they name, whatever it is. */
export async function extractTar(tool: ToolArgv, tar: AsyncIterable<Uint8Array> | Uint8Array, directory: string): Promise<void> {
  const child = start(tool, ['tar', ...EXTRACT, '-C', directory, '-f', '-'], true);
  const [fed, end] = await Promise.allSettled([pipeline(tar instanceof Uint8Array ? [tar] : tar, child.stdin), child.ended]);
  if (end.status === 'rejected') throw end.reason;
  const complaint = child.complaint();
  if (end.value !== 0) throw new AppError('internal', `upload to ${directory} failed: ${complaint === '' ? `tar ended with ${end.value}` : complaint}`);
  if (fed.status === 'rejected') throw new AppError('internal', `upload to ${directory} was cut: ${messageOf(fed.reason)}`, { cause: fed.reason });
}

/** A tar of `path` named from its parent, made as it is read; null = no such path. */
export async function packTar(tool: ToolArgv, path: string): Promise<AsyncIterable<Uint8Array> | null> {
  const whole = posix.normalize(path).replace(/(.)\/+$/, '$1');
  const parent = posix.dirname(whole);
  const name = whole === '/' ? '.' : posix.basename(whole);
  if (!(await exists(tool, whole))) return null;
  const child = start(tool, ['tar', ...PACK, '-C', parent, '-cf', '-', '--', `./${name}`.replace(/^\.\/\.$/, '.')], false);
  return (async function* () {
    try {
      for await (const chunk of child.stdout) yield chunk;
      const code = await child.ended;
      if (code > CHANGED_MEANWHILE) throw new AppError('internal', `download of ${path} failed: ${child.complaint() || `tar ended with ${code}`}`);
    } finally {
      child.end();
    }
  })();
}

/** Every link followed inside; null = no such path. */
export async function realPathOf(tool: ToolArgv, path: string): Promise<string | null> {
  const { code, text } = await output(tool, ['realpath', '-ez', '--', path]);
  return code === 0 ? text.replace(/\0$/, '') : null;
}

/** What a tool prints, for what is known to be bounded. */
export async function output(tool: ToolArgv, argv: readonly string[]): Promise<{ code: number; text: string; complaint: string }> {
  const child = start(tool, argv, false);
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk);
  return { code: await child.ended, text: Buffer.concat(chunks).toString('utf8'), complaint: child.complaint() };
}

const EXTRACT = ['--recursive-unlink', '--no-same-owner', '--preserve-permissions', '--no-xattrs', '-x'];
/** Entries carry no host user's name. Sockets are left out by tar itself. */
const PACK = ['--numeric-owner', '--owner=0', '--group=0', '--format=pax', '--pax-option=delete=atime,delete=ctime', '--warning=no-file-ignored'];
/** tar's way of saying that a file changed or vanished while it was read. */
const CHANGED_MEANWHILE = 1;

async function exists(tool: ToolArgv, path: string): Promise<boolean> {
  const { code, complaint } = await output(tool, ['stat', '-c', '', '--', path]);
  if (code === 0) return true;
  if (/(No such file or directory|Not a directory)$/m.test(complaint)) return false;
  throw new AppError('internal', `could not look at ${path}: ${complaint}`);
}

export function start(tool: ToolArgv, argv: readonly string[], writes: boolean) {
  const { file, args, env, cwd } = tool(argv);
  const child = spawn(file, args, { env: { ...env, LC_ALL: 'C' }, cwd, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(0, 16_384);
  });
  if (!writes) child.stdin.end();
  child.stdin.on('error', () => undefined);
  if (writes) child.stdout.resume();
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 128));
  });
  // Whoever awaits it still gets the rejection.
  ended.catch(() => undefined);
  return { stdin: child.stdin, stdout: child.stdout, ended, complaint: () => complaint.trim(), end: () => void child.kill('SIGKILL') };
}
