import { execFile } from 'node:child_process';

/** One fact of this machine. `fix` is the one line that mends it. */
export type Finding = { name: string; state: 'ok' | 'missing' | 'warning' | 'unknown'; value: string; fix: string | null };

export function ok(name: string, value: string): Finding {
  return { name, state: 'ok', value, fix: null };
}

export function missing(name: string, value: string, fix: string): Finding {
  return { name, state: 'missing', value, fix };
}

export function warning(name: string, value: string, fix: string | null): Finding {
  return { name, state: 'warning', value, fix };
}

export type ProgramResult = { kind: 'ran'; code: number; stdout: string; stderr: string } | { kind: 'absent' } | { kind: 'timed_out' };

/** Runs a program briefly. Never through a shell. */
export function ask(program: string, ...args: string[]): Promise<ProgramResult> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { timeout: LIMIT_MS, encoding: 'utf8', maxBuffer: 4 * 2 ** 20, env: { ...process.env, LC_ALL: 'C' } },
      (error, stdout, stderr) => {
        if (error === null) resolve({ kind: 'ran', code: 0, stdout, stderr });
        else if (error.code === 'ENOENT') resolve({ kind: 'absent' });
        else if (error.killed === true) resolve({ kind: 'timed_out' });
        else resolve({ kind: 'ran', code: typeof error.code === 'number' ? error.code : 1, stdout, stderr });
      },
    );
  });
}

const LIMIT_MS = 10_000;
