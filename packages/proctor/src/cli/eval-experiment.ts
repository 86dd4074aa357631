import { writeFileSync } from 'node:fs';
import os from 'node:os';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ExperimentEnd, type ExperimentOptions, type ExperimentPlan, evalExperiment } from '../compositions/eval-experiment.ts';
import { writeExperimentFile } from '../compositions/experiment-file.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import { terminalJson, terminalLine } from '../domain/terminal-text.ts';
import { table } from './columns.ts';
import type { Call } from './command.ts';
import { type Compiled, compiledFor } from './compiled-tasks.ts';
import { chosenEnvironment } from './environment-flags.ts';
import { type Asked, askedExperiment, movedTo } from './experiment-settings.ts';
import { Interrupt } from './interrupt.ts';
import { withRunning } from './open.ts';
import { watchProgress } from './progress/watch.ts';
import { printReport, reportOf, tryFiles, wantedFiles, writeFiles } from './report-output.ts';

/** `proctor eval experiment`: compiles every task, runs or reuses every trial, reports. */
export async function run(call: Call): Promise<number> {
  const { given, terminal } = call;
  const asked = await askedExperiment(call.words, given);
  const target = given.text('write-config');
  if (target !== null) return writeConfig(call, asked, target);
  if (Object.keys(asked.lanes ?? {}).length === 0) {
    throw new AppError('usage', 'no agent: pass --agent oracle, --agent command:./my-agent.sh or --agent ./folder-with-agent.toml');
  }
  const files = wantedFiles(call);
  tryFiles(files);
  const compiled = await compiledFor(call, asked);
  const end = await runExperiment(call, asked, compiled, {
    only: given.text('only'),
    fresh: given.flag('fresh'),
    dryRun: given.flag('dry-run'),
    says: 'Stopping: running trials are interrupted and their sandboxes removed; finished trials are kept.',
  });
  if (end.kind === 'planned') return tellPlan(call, end.plan, compiled.refused.length);
  const report = reportOf(end.report);
  await printReport(report, given.flag('json') ? 'json' : 'terminal', terminal);
  try {
    await writeFiles(report, files);
  } catch (error) {
    // stdout holds the whole report already, and with --json nothing may follow it.
    terminal.err(`proctor: ${messageOf(error)}\n`);
    return report.exit.code === 130 ? 130 : 2;
  }
  return report.exit.code;
}

export type Manner = Pick<ExperimentOptions, 'only' | 'fresh' | 'dryRun'> & { says: string };

/** Runs what was asked with progress on stderr, until it ends or is interrupted. */
export async function runExperiment(call: Call, asked: Asked, compiled: Compiled, { says, ...manner }: Manner): Promise<ExperimentEnd> {
  using watch = watchProgress(call.terminal);
  using interrupt = new Interrupt(call.terminal, { says, beforeExit: () => watch.pause() });
  const { use, ...changes } = asked.environment ?? {};
  const settings = asked.settings ?? {};
  return await withRunning(call, asked.directory, async ({ client, hash }) =>
    evalExperiment(client, {
      ...manner,
      tasksArgument: compiled.argument,
      compiled: compiled.compiled,
      refused: compiled.refused,
      lanes: Object.entries(asked.lanes ?? {}).map(([label, agent]) => ({ label, agent })),
      agentEnvironmentNames: settings.agent_env ?? [],
      environment: await chosenEnvironment(client, use ?? null, changes),
      repeat: asked.repeat ?? 1,
      maxIterations: settings.max_iterations ?? null,
      concurrency: settings.concurrency ?? null,
      maxAttempts: settings.max_attempts ?? 2,
      timeoutMultiplier: settings.timeout_multiplier ?? 1,
      liveProcesses: settings.live_processes ?? null,
      rewardKey: settings.reward_key ?? null,
      feedback: settings.feedback ?? 'summary',
      experiment: asked.experiment ?? null,
      limit: settings.limit ?? null,
      shuffleSeed: settings.shuffle === true ? (settings.seed ?? 0) : null,
      failFast: settings.fail_fast ?? null,
      acceptRetries: settings.accept_retries === true,
      keepState: settings.keep_state === true,
      skipInvalid: settings.skip_invalid === true,
      host: { cpus: os.availableParallelism(), freeMemoryMb: Math.floor(process.availableMemory() / 1024 ** 2) },
      progress: (event) => watch.take(event),
      signal: interrupt.signal,
      now: () => new Date(),
      wait: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => {}),
      hash,
    }),
  );
}

function writeConfig({ terminal }: Call, asked: Asked, target: string): number {
  const path = resolve(target);
  writeFileSync(path, writeExperimentFile(movedTo(dirname(path), asked)));
  terminal.err(`Wrote ${target}. Run it: proctor eval experiment ${target}\n`);
  return 0;
}

function tellPlan({ given, terminal }: Call, plan: ExperimentPlan, refused: number): number {
  if (given.flag('json')) terminal.out(`${terminalJson(JSON.stringify(plan, null, 2))}\n`);
  else {
    const count = (action: string) => plan.trials.filter((trial) => trial.action === action).length;
    const rows = plan.trials.map((trial) => [
      trial.action,
      terminalLine(trial.task),
      terminalLine(trial.lane),
      `#${trial.repetition}`,
      terminalLine(trial.why),
    ]);
    terminal.out(
      `Experiment ${terminalLine(plan.experiment)}: ${count('run')} to run, ${count('reuse')} reused; nothing runs, and no Session was created.\n\n`,
    );
    terminal.out(table(['action', 'task', 'lane', 'repetition', 'why'], rows, terminal.paint.dim));
  }
  return refused === 0 ? 0 : 2;
}
