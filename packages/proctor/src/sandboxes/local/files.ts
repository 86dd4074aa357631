import { type ChildProcess, spawn } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, messageOf } from '../../domain/errors.ts';
import { walkEntries } from '../../system/tar.ts';

/** A host program and its arguments that runs tar (or another tool) in the sandbox's own view of the files. */
export type ToolArgv = (argv: readonly string[]) => {
  file: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
  started?: (child: ChildProcess) => void;
};

/**
 * Extracts below an existing `directory`; entries replace what they name, whatever it is, and a directory entry keeps what is in it. tar alone
 * has no such way: directories that stand where the archive has something else are removed first, so it is looked through before (`spool` = a
 * host file for one that comes as a stream).
 */
export async function extractTar(
  tool: ToolArgv,
  tar: AsyncIterable<Uint8Array> | Uint8Array,
  directory: string,
  spool: string,
): Promise<void> {
  try {
    if (!(tar instanceof Uint8Array)) await pipeline(tar, createWriteStream(spool, { flags: 'wx', mode: 0o600 }));
    const again = () => (tar instanceof Uint8Array ? Readable.from([tar]) : createReadStream(spool));
    const names: string[] = [];
    for await (const { entry } of walkEntries(again())) {
      const name = entry.path.replace(/^\/+/, '');
      if (entry.type !== 'directory' && name !== '' && !name.split('/').includes('..')) names.push(`./${name}\0`);
    }
    await fed(tool, ['sh', '-c', CLEAR, 'sh', directory], Readable.from([names.join('')]), `upload to ${directory} failed`);
    await fed(tool, ['tar', '-C', directory, ...EXTRACT], again(), `upload to ${directory} failed`);
  } finally {
    await rm(spool, { force: true });
  }
}

/** Removes the directories that are named on stdin, and nothing else. */
const CLEAR = `cd -- "$1" && xargs -0r sh -c 'for name; do [ -d "$name" ] && [ ! -L "$name" ] && rm -rf -- "$name"; done; true' sh`;
export const EXTRACT = ['--no-same-owner', '--preserve-permissions', '--no-xattrs', '-xf', '-'];

/** Runs a tool on a source; `failure` begins the message when it does not end well. */
export async function fed(tool: ToolArgv, argv: readonly string[], source: Readable, failure: string): Promise<void> {
  const child = start(tool, argv, true);
  const [piped, end] = await Promise.allSettled([pipeline(source, child.stdin), child.ended]);
  if (end.status === 'rejected') throw end.reason;
  if (end.value !== 0) throw new AppError('internal', `${failure}: ${child.complaint() || `${argv[0]} ended with ${end.value}`}`);
  if (piped.status === 'rejected') throw new AppError('internal', `${failure}: ${messageOf(piped.reason)}`, { cause: piped.reason });
}

/** A tar of `path` named from `base`, by default its parent, made as it is read; null = no such path. */
export async function packTar(tool: ToolArgv, path: string, base?: string): Promise<AsyncIterable<Uint8Array> | null> {
  const whole = posix.normalize(path).replace(/(.)\/+$/, '$1');
  const from = base ?? posix.dirname(whole);
  const name = posix.relative(from, whole) || '.';
  const script = `ls -d -- "$1" >/dev/null || exit ${NOT_SEEN}; cd -- "$2" && shift 2 && exec tar "$@"`;
  const child = start(tool, ['sh', '-c', script, 'sh', whole, from, ...PACK, '--', name], false);
  const chunks: AsyncIterator<Uint8Array> = child.stdout[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true && (await child.ended) === NOT_SEEN) {
    if (/(No such file or directory|Not a directory)$/m.test(child.complaint())) return null;
    throw new AppError('internal', `could not look at ${path}: ${child.complaint()}`);
  }
  return (async function* () {
    try {
      for (let next = first; next.done !== true; next = await chunks.next()) yield next.value;
      const code = await child.ended;
      if (code > CHANGED_MEANWHILE)
        throw new AppError('internal', `download of ${path} failed: ${child.complaint() || `tar ended with ${code}`}`);
    } finally {
      child.end();
    }
  })();
}

/** Every link followed inside; null = no such path. */
export async function realPathOf(tool: ToolArgv, path: string): Promise<string | null> {
  const { code, text } = await output(tool, ['realpath', '-ez', '--', path]);
  return code === 0 && text !== null ? text.replace(/\0$/, '') : null;
}

/** What a tool prints; text null = it printed more than `maxBytes`, and was ended. */
export async function output(
  tool: ToolArgv,
  argv: readonly string[],
  maxBytes = 2 ** 20,
): Promise<{ code: number; text: string | null; complaint: string }> {
  const child = start(tool, argv, false);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of child.stdout) {
    bytes += chunk.length;
    if (bytes > maxBytes) child.end();
    else chunks.push(chunk);
  }
  const code = await child.ended;
  return { code, text: bytes > maxBytes ? null : Buffer.concat(chunks).toString('utf8'), complaint: child.complaint() };
}

/** Entries carry no host user's name. Sockets are left out by tar itself. */
const PACK = [
  '--numeric-owner',
  '--owner=0',
  '--group=0',
  '--format=pax',
  '--pax-option=delete=atime,delete=ctime',
  '--warning=no-file-ignored',
  '-cf',
  '-',
];
/** Above every exit code of tar. */
const NOT_SEEN = 90;
/** tar's way of saying that a file changed or vanished while it was read. */
const CHANGED_MEANWHILE = 1;

export function start(tool: ToolArgv, argv: readonly string[], writes: boolean) {
  const { file, args, env, cwd, started } = tool(argv);
  const child = spawn(file, args, {
    env: { ...env, LC_ALL: 'C' },
    cwd,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  started?.(child);
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
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    ended,
    complaint: () => complaint.trim(),
    end: () => void child.kill('SIGKILL'),
  };
}
