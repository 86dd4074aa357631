import { spawn } from 'node:child_process';
import path from 'node:path';

export const root = path.join(import.meta.dirname, '..');

export type Step = { name: string; argv: readonly string[]; env?: Record<string, string> };
export type StepResult = { name: string; passed: boolean; seconds: number };

/** Runs a program of the workspace (under this Node) or of the host, its output shown as it comes. */
export async function runStep({ name, argv, env }: Step): Promise<StepResult> {
  console.log(`\n── ${name}`);
  const started = performance.now();
  const code = await run(argv, env ?? {});
  const seconds = (performance.now() - started) / 1000;
  if (code !== 0) console.log(`── ${name}: failed (exit ${code})`);
  return { name, passed: code === 0, seconds };
}

/** argv of a program installed in the workspace. */
export function installed(name: string, ...args: string[]): string[] {
  return [process.execPath, path.join(root, 'node_modules', '.bin', name), ...args];
}

/** argv of the product from its sources. */
export function proctor(...args: string[]): string[] {
  return [process.execPath, path.join(root, 'scripts', 'dev.ts'), ...args];
}

/** argv of the product as it was built last. */
export function builtProctor(...args: string[]): string[] {
  return [process.execPath, path.join(root, 'packages', 'proctor', 'bin', 'proctor.js'), ...args];
}

export function printResults(results: readonly StepResult[]): void {
  console.log('');
  for (const { name, passed, seconds } of results)
    console.log(`${passed ? 'passed' : 'FAILED'}  ${seconds.toFixed(1).padStart(6)} s  ${name}`);
}

function run([program = '', ...args]: readonly string[], env: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } });
    child.on('error', (error) => {
      console.log(error.message);
      resolve(127);
    });
    child.on('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : 128));
  });
}
