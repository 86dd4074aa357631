import type { Client } from '../api/client.ts';
import { AppError } from '../domain/errors.ts';
import type { SessionSummary } from '../domain/summary.ts';
import type { ExperimentOptions } from './eval-experiment.ts';
import type { Trial } from './plan-experiment.ts';
import { labelOf, runTrial } from './run-trial.ts';

export type RunTrialsOptions = Pick<
  ExperimentOptions,
  'maxAttempts' | 'wait' | 'failFast' | 'progress' | 'signal' | 'feedback' | 'now' | 'keepState'
> & { experiment: string; environment: { id: string; version: number }; concurrency: number };

const RETRY_AFTER_MS = 2000;
const LOOKS = 30;

/** An engine that restarts needs a moment: the next attempt waits until it answers, at most a minute. */
async function untilReady(client: Client, options: Pick<RunTrialsOptions, 'wait' | 'environment'>, signal: AbortSignal): Promise<void> {
  for (let look = 0; look < LOOKS && !signal.aborted; look += 1) {
    await options.wait(RETRY_AFTER_MS, signal);
    if ((await client.call('sandboxes.ready', { environment_id: options.environment })).ready) return;
  }
}

/** Runs trials side by side. Every attempt is kept; the last one of a trial counts. */
export async function runTrials(
  client: Client,
  trials: readonly Trial[],
  options: RunTrialsOptions,
): Promise<{ summaries: SessionSummary[] }> {
  const queue = [...trials];
  const summaries: SessionSummary[] = [];
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let ended = 0;
  let broken = 0;
  let failure: unknown = null;
  options.signal.addEventListener('abort', () => options.progress({ kind: 'stopping', reason: 'interrupted' }), { once: true });

  const runOne = async (trial: Trial): Promise<void> => {
    summaries.push(...trial.earlier);
    const done = trial.earlier.length;
    for (let attempt = 1; attempt <= options.maxAttempts; attempt += 1) {
      const label = labelOf(trial, done + attempt);
      let started = false;
      const summary = await runTrial(client, trial, {
        experiment: options.experiment,
        environment: options.environment,
        attempt: done + attempt,
        feedback: options.feedback,
        keepState: options.keepState ?? false,
        signal,
        onStart: (session) => {
          started = true;
          options.progress({ kind: 'trial_started', trial: label, session });
        },
        onPhase: (phase, detail) => options.progress({ kind: 'trial_phase', trial: label, phase, detail, at: options.now().getTime() }),
      });
      summaries.push(summary);
      const willRetry = started && summary.attribution === 'infrastructure' && attempt < options.maxAttempts && !signal.aborted;
      options.progress({ kind: 'trial_ended', trial: label, summary, willRetry });
      if (willRetry) {
        await untilReady(client, options, signal);
        continue;
      }
      ended += 1;
      if (summary.attribution === 'infrastructure') broken += 1;
      return;
    }
  };

  const work = async (): Promise<void> => {
    for (let trial = queue.shift(); trial !== undefined && !signal.aborted; trial = queue.shift()) {
      try {
        await runOne(trial);
      } catch (error) {
        failure ??= error;
        stop.abort();
        return;
      }
      if (options.failFast !== null && ended >= options.failFast && broken === ended) {
        options.progress({ kind: 'stopping', reason: 'fail_fast' });
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(options.concurrency, trials.length)) }, work));
  if (failure !== null) {
    if (failure instanceof AppError && failure.code === 'store_full') options.progress({ kind: 'stopping', reason: 'disk' });
    throw failure;
  }
  return { summaries };
}
