import type { Progress, TrialLabel, TrialPhase } from '../../compositions/progress.ts';
import type { TrialResult } from '../../domain/verdict.ts';

export type RunningTrial = {
  trial: TrialLabel;
  session: string;
  startedAt: number;
  phase: TrialPhase;
  detail: string | null;
  phaseAt: number;
};
export type Planned = Extract<Progress, { kind: 'planned' }>;

/** Where an experiment stands: a fold over its progress. */
export class Tally {
  readonly running = new Map<string, RunningTrial>();
  readonly results: Record<TrialResult, number> = { passed: 0, failed: 0, partial: 0, unscored: 0 };
  planned: Planned | null = null;
  reused = 0;
  ended = 0;
  stopping: Extract<Progress, { kind: 'stopping' }>['reason'] | null = null;
  #firstAt: number | null = null;
  #spentMs = 0;

  take(event: Progress, now: number): void {
    switch (event.kind) {
      case 'compiled':
        return;
      case 'planned':
        this.planned = event;
        return;
      case 'trial_started':
        this.#firstAt ??= now;
        this.running.set(keyOf(event.trial), {
          trial: event.trial,
          session: event.session,
          startedAt: now,
          phase: 'admission',
          detail: null,
          phaseAt: now,
        });
        return;
      case 'trial_phase': {
        const found = this.running.get(keyOf(event.trial));
        if (found !== undefined) Object.assign(found, { phase: event.phase, detail: event.detail, phaseAt: event.at });
        return;
      }
      case 'trial_ended': {
        const found = this.running.get(keyOf(event.trial));
        this.running.delete(keyOf(event.trial));
        if (event.willRetry) return;
        this.ended += 1;
        this.results[event.summary.trial_result] += 1;
        if (found !== undefined) this.#spentMs += now - found.startedAt;
        return;
      }
      case 'trial_reused':
        this.reused += 1;
        this.results[event.summary.trial_result] += 1;
        return;
      case 'stopping':
        this.stopping = event.reason;
        return;
      default:
        event satisfies never;
    }
  }

  /** Of this experiment, reused ones included; null before it is planned. */
  get total(): number | null {
    return this.planned === null ? null : this.planned.trials + this.planned.reused;
  }

  elapsedMs(now: number): number {
    return this.#firstAt === null ? 0 : now - this.#firstAt;
  }

  /** From the mean of the trials that ended and how many run at once; null before one has, or when nothing is left. */
  remainingMs(now: number): number | null {
    if (this.planned === null || this.ended === 0 || this.stopping !== null) return null;
    const waiting = this.planned.trials - this.ended - this.running.size;
    const mean = this.#spentMs / this.ended;
    const inFlight = [...this.running.values()].map((one) => Math.max(0, mean - (now - one.startedAt)));
    const work = inFlight.reduce((sum, one) => sum + one, 0) + Math.max(0, waiting) * mean;
    const remaining = Math.max(work / Math.max(1, this.planned.concurrency), ...inFlight);
    return remaining > 0 ? remaining : null;
  }
}

export function keyOf(trial: TrialLabel): string {
  return JSON.stringify([trial.task, trial.lane, trial.repetition, trial.attempt]);
}
