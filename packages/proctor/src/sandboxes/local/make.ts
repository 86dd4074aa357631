import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { AppError } from '../../domain/errors.ts';
import { listStats } from '../../system/processes.ts';
import type { Entrance } from './enter.ts';

/** Starts the program that makes the namespaces and waits until process 1 inside says that all is mounted. Gives its host pid. */
export async function startMaker(
  file: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<{ maker: ChildProcess; pid: number }> {
  const maker = spawn(file, args, { env: {}, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const text = { ready: '', complaint: '' };
  maker.stdin?.on('error', () => undefined);
  const abort = () => void maker.kill('SIGKILL');
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      maker.once('error', reject);
      maker.once('close', (code) => reject(new AppError('sandbox_unavailable', text.complaint.trim() || `${file} ended with ${code}`)));
      maker.stderr?.on('data', (chunk: Buffer) => {
        text.complaint = (text.complaint + chunk.toString('utf8')).slice(-4000);
      });
      maker.stdout?.on('data', (chunk: Buffer) => {
        text.ready += chunk.toString('utf8');
        if (text.ready.includes('\n')) resolve();
      });
    });
  } catch (error) {
    maker.kill('SIGKILL');
    if (signal?.aborted === true) throw new AppError('interrupted', 'the sandbox was not made: interrupted', { cause: error });
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  const first = listStats().find((one) => one.parent === maker.pid);
  if (first === undefined) throw new AppError('sandbox_unavailable', `${file} has no process 1 to enter`);
  return { maker, pid: first.pid };
}

/** Shows the sandbox's own network devices under /sys in place of the host's, or nothing at all. */
export async function coverSysfs(entrance: Entrance): Promise<void> {
  const { pid, programs } = entrance;
  const script = 'mount -t sysfs -o ro,nosuid,nodev,noexec sysfs /sys 2>/dev/null || mount -t tmpfs -o ro,size=4k tmpfs /sys';
  await runTool(programs.nsenter, [
    `--target=${pid}`,
    '--user',
    '--preserve-credentials',
    '--mount',
    '--net',
    '--',
    programs.sh,
    '-c',
    script,
  ]);
}

export async function runTool(file: string, args: string[]): Promise<void> {
  await promisify(execFile)(file, args, { env: { PATH: process.env.PATH }, maxBuffer: 2 ** 20 });
}
