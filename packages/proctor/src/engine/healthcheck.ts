import { setTimeout as sleep } from 'node:timers/promises';
import type { Healthcheck, Task } from '../domain/task.ts';
import type { Sandbox } from '../sandbox.ts';
import { EnvironmentFailure } from './frozen.ts';
import { OutputKeeper } from './output-keeper.ts';
import type { Clock } from './parts.ts';

/**
 * Runs the task's check until it succeeds. Failures inside the start period are free; after it, `retries` consecutive ones end it. A check that
 * passes its own limit counts as one failure. Run by bash, as the format does; by sh in an image without bash.
 */
export async function waitUntilHealthy(
  sandbox: Sandbox,
  check: Healthcheck,
  options: { workdir: string; signal: AbortSignal; clock: Clock },
): Promise<void> {
  const start = options.clock.elapsed();
  let failures = 0;
  let shell = 'bash';
  for (;;) {
    const keeper = new OutputKeeper(8 * 1024);
    const exit = await sandbox.exec([shell, '-c', check.command], {
      cwd: options.workdir,
      timeLimitMs: check.timeout_ms,
      stdout: keeper.push,
      stderr: keeper.push,
      signal: options.signal,
    });
    if (exit.kind === 'exited' && exit.code === 0) return;
    if (exit.kind === 'not_started' && shell === 'bash') {
      shell = 'sh';
      continue;
    }
    if (exit.kind === 'aborted')
      throw new EnvironmentFailure('healthcheck', 'cancelled', 'interrupted', 'interrupted during the healthcheck');
    if (exit.kind === 'lost') throw new EnvironmentFailure('healthcheck', 'infrastructure', 'sandbox_lost', exit.cause);
    const starting = options.clock.elapsed() - start < check.start_period_ms;
    failures = starting ? 0 : failures + 1;
    if (failures >= check.retries) {
      throw new EnvironmentFailure(
        'healthcheck',
        'task',
        'unhealthy',
        `the task's healthcheck failed ${failures} times: ${check.command}`,
        { log: Buffer.from(keeper.bytes()).toString('utf8') },
      );
    }
    await sleep(starting ? check.start_interval_ms : check.interval_ms, undefined, { signal: options.signal }).catch(() => {
      throw new EnvironmentFailure('healthcheck', 'cancelled', 'interrupted', 'interrupted during the healthcheck');
    });
  }
}

/** In a copy, what the image starts by itself gets the time that the task gives it. That it does not come up is for the verifier to find. */
export async function waitForServices(
  { clock }: { clock: Clock },
  { task, workdir, signal }: { task: Task | null; workdir: string; signal: AbortSignal },
  sandbox: Sandbox,
): Promise<void> {
  const check = task?.environment.healthcheck ?? null;
  if (check === null) return;
  try {
    await waitUntilHealthy(sandbox, check, { workdir, signal, clock });
  } catch (error) {
    if (!(error instanceof EnvironmentFailure) || error.attribution !== 'task') throw error;
  }
}
