import { spawn } from 'node:child_process';

export type Janitor = { dismiss(): void };

/**
 * Starts a detached process that holds a pipe of ours. When the pipe closes without a word, we died: it sweeps what we left. `dismiss` says
 * that there is nothing to do.
 */
export function startJanitor(argv: readonly string[], environment: NodeJS.ProcessEnv): Janitor {
  const [program, ...args] = argv;
  if (program === undefined) return { dismiss: () => {} };
  const child = spawn(program, args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: environment });
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.unref();
  // The handle must not keep our process alive, and must stay open while it lives.
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return { dismiss: () => child.stdin.end('done\n') };
}

/** Runs inside the janitor: resolves true when the owner's pipe closed without a word. */
export async function ownerDied(input: AsyncIterable<Uint8Array>): Promise<boolean> {
  let said = '';
  try {
    for await (const chunk of input) said += Buffer.from(chunk).toString('utf8');
  } catch {
    return true;
  }
  return !said.includes('done');
}
