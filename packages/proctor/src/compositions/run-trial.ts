import type { Client } from '../api/client.ts';
import { AppError } from '../domain/errors.ts';
import type { SessionSummary } from '../domain/summary.ts';
import type { Trial } from './plan-experiment.ts';
import type { TrialLabel, TrialPhase } from './progress.ts';

export type TrialOptions = {
  experiment: string;
  environment: { id: string; version: number };
  attempt: number;
  feedback: 'none' | 'summary' | 'full';
  keepState?: boolean;
  onStart(session: string): void;
  onPhase(phase: TrialPhase, detail: string | null): void;
  signal: AbortSignal;
};

/** One attempt of one trial: a Session through the public operations, followed to the persisted end. Response timing decides nothing. */
export async function runTrial(client: Client, trial: Trial, options: TrialOptions): Promise<SessionSummary> {
  const { task, lane } = trial;
  const { id } = await client.call('sessions.create', {
    agent: { id: lane.agentId, version: lane.agentVersion },
    environment_id: options.environment,
    task: task.blob,
    experiment: { name: options.experiment, lane: lane.label, repetition: trial.repetition, attempt: options.attempt, trial: trial.id },
    ...(options.keepState ? { keep_state: true } : {}),
  });
  options.onStart(id);
  const interrupt = () => {
    client
      .call('sessions.post_event', { session_id: id, type: 'user.interrupt', data: { reason: 'the experiment was stopped' } })
      .catch(() => {});
  };
  const unwatch = client.onPhase((session, phase) => {
    if (session === id) options.onPhase(phase, null);
  });
  try {
    await client.call('sessions.post_event', {
      session_id: id,
      type: 'user.define_outcome',
      data: {
        description: task.instruction,
        ...task.verifierSettings,
        max_iterations: task.maxIterations,
        deliverables: task.deliverables,
        feedback: options.feedback,
      },
    });
    await client.call('sessions.post_event', {
      session_id: id,
      type: 'user.message',
      data: { content: [{ type: 'text', text: task.instruction }] },
    });
    if (options.signal.aborted) interrupt();
    else options.signal.addEventListener('abort', interrupt, { once: true });
    await followToSettlement(client, id, options);
  } finally {
    unwatch();
    options.signal.removeEventListener('abort', interrupt);
    await client.call('sessions.close', { session_id: id });
  }
  const [summary] = await client.call('sessions.summaries', { ids: [id] });
  if (summary === undefined) throw new AppError('internal', `expected the summary of ${id}, found none`);
  return summary;
}

export function labelOf(trial: Trial, attempt: number): TrialLabel {
  return { task: trial.task.name, lane: trial.lane.label, repetition: trial.repetition, attempt };
}

async function followToSettlement(client: Client, id: string, options: TrialOptions): Promise<void> {
  const done = new AbortController();
  let idleAfterSettlement = false;
  for await (const row of client.follow(id, { after: 0, signal: done.signal })) {
    if (row.type === 'run.started') options.onPhase('agent', null);
    else if (row.type === 'verifier.started') options.onPhase('verifier', null);
    else if (row.type === 'outcome.settled') {
      options.onPhase('settling', null);
      idleAfterSettlement = true;
    }
    if (idleAfterSettlement || row.type === 'session.closed') break;
  }
  done.abort();
}
