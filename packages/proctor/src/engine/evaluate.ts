import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../domain/errors.ts';
import type { EventData } from '../domain/events.ts';
import { composeFeedback } from '../domain/feedback.ts';
import { type Judgement, judge, type LivePolicy, type SecondVerification, verdictOf } from '../domain/outcome.ts';
import type { Redaction } from '../domain/redaction.ts';
import type { Task, VerifierContract } from '../domain/task.ts';
import type { LeftProcess, SandboxLease, Snapshot } from '../sandbox.ts';
import type { TreeContent } from '../system/tree-content.ts';
import { waitForServices } from './healthcheck.ts';
import type { EngineParts } from './parts.ts';
import type { SessionLog } from './session-log.ts';
import { originalTreeOf, readVerdictDirectory, removeVerifierFiles, type Verified, verify } from './verify.ts';

const GRACE_MS = 2000;
const HEARTBEAT_MS = 10_000;

export type Evaluation = {
  lease: SandboxLease;
  log: SessionLog;
  content: TreeContent;
  task: Task | null;
  contract: VerifierContract;
  workdir: string;
  outcomeId: string;
  iteration: number;
  maxIterations: number;
  feedback: 'none' | 'summary' | 'full';
  policy: LivePolicy;
  rewardKey: string | null;
  timeLimitMs: number;
  redaction: Redaction;
  signal: AbortSignal;
};

/** `evidence` = the seq of each verifier.completed, as they become durable. */
type Evaluating = Evaluation & { evidence: Promise<number>[] };

export type Evaluated = { judgement: Judgement; feedback: string };

/** One evaluation of the work as it stands, from what the agent left alive to the recorded verdict. */
export async function evaluate(parts: EngineParts, asked: Evaluation): Promise<Evaluated> {
  const evaluation: Evaluating = { ...asked, evidence: [] };
  const { lease, log, contract, outcomeId, iteration } = evaluation;
  const start = parts.clock.elapsed();
  const about = { outcome_id: outcomeId, iteration };
  const engine = { author: 'engine' };
  log.write([
    log.draft('run.requires_action', { action: { kind: 'outcome_evaluation' }, ...about }, engine),
    log.draft('outcome.evaluation_started', about, engine),
  ]);
  const heartbeat = setInterval(
    () =>
      log.write([log.draft('outcome.evaluation_progress', { ...about, elapsed_ms: Math.round(parts.clock.elapsed() - start) }, engine)]),
    HEARTBEAT_MS,
  );
  try {
    const left = await whatIsLeft(lease, evaluation.signal);
    const killed = evaluation.policy === 'kill' && left.length > 0;
    if (killed) await lease.signal(left, 'kill');
    const alive = killed ? [] : left;
    if (left.length > 0)
      log.write([
        log.draft(
          'warning',
          {
            code: 'left_processes',
            message: `${left.length} processes were left running by the agent and ${killed ? 'killed' : 'kept'}: ${left
              .map((one) => one.argv)
              .join(' | ')
              .slice(0, 500)}`,
            ...about,
          },
          engine,
        ),
      ]);
    const planted = (await readVerdictDirectory(lease))
      .filter((entry) => entry.type !== 'directory' && /^reward\.(txt|json)$/.test(entry.path))
      .map((entry) => entry.path);
    const found = planted.length === 0 ? null : `a verdict file existed before the verifier ran: ${planted.join(', ')}`;

    const isolated = evaluation.maxIterations > 1 && alive.length === 0 && lease.snapshot !== undefined && lease.openVerifier !== undefined;
    const wantsSnapshot = alive.length > 0 || found !== null || isolated;
    const taken = wantsSnapshot ? await takeSnapshot(lease) : null;
    try {
      const first = await firstVerification(parts, evaluation, {
        alive,
        left,
        snapshot: taken?.snapshot ?? null,
        isolated: isolated && taken?.snapshot != null,
      });
      const tampering =
        found ?? (first.rewritten.length > 0 ? `verdict files changed after the verifier ended: ${first.rewritten.join(', ')}` : null);
      const needsSecond = tampering !== null || (alive.length > 0 && verdictOf(first.reading, contract.pass_threshold) === 'satisfied');
      const second = needsSecond ? await secondVerification(parts, evaluation, taken) : ({ kind: 'not_needed' } as const);
      if (tampering !== null)
        log.write([
          log.draft('warning', { code: 'tampering', message: tampering, paths: [...planted, ...first.rewritten], ...about }, engine),
        ]);
      const judgement = judge({
        reading: first.reading,
        threshold: contract.pass_threshold,
        alive: alive.length > 0,
        policy: evaluation.policy,
        tampering,
        second,
      });
      return await record(parts, evaluation, { judgement, first, second, alive, isolated: isolated && taken?.snapshot != null, start });
    } finally {
      await taken?.snapshot?.[Symbol.asyncDispose]();
    }
  } finally {
    clearInterval(heartbeat);
  }
}

/** Looked at at once; what is alive gets a short grace to end by itself. */
async function whatIsLeft(lease: SandboxLease, signal: AbortSignal): Promise<LeftProcess[]> {
  const now = await lease.left();
  if (now.length === 0) return [];
  const until = Date.now() + GRACE_MS;
  let left = now;
  while (left.length > 0 && Date.now() < until && !signal.aborted) {
    await sleep(100);
    left = await lease.left();
  }
  return left;
}

type Taken = { snapshot: Snapshot | null; reason: string | null };

async function takeSnapshot(lease: SandboxLease): Promise<Taken> {
  if (lease.snapshot === undefined || lease.openVerifier === undefined) return { snapshot: null, reason: 'this sandbox has no snapshots' };
  try {
    return { snapshot: await lease.snapshot(), reason: null };
  } catch (error) {
    return { snapshot: null, reason: `the snapshot could not be made: ${messageOf(error)}` };
  }
}

type First = { alive: readonly LeftProcess[]; left: readonly LeftProcess[]; snapshot: Snapshot | null; isolated: boolean };

async function firstVerification(parts: EngineParts, evaluation: Evaluating, first: First): Promise<Verified> {
  const { lease } = evaluation;
  const ofImage = originalTreeOf(lease);
  started(evaluation, 'first', first.isolated ? 'isolated' : 'in_place', first.left);
  if (!first.isolated || first.snapshot === null || lease.openVerifier === undefined) {
    const verified = await verify(parts, evaluation.content, { ...evaluation, lease, ofImage, kept: first.alive });
    return completed(evaluation, 'first', verified);
  }
  const paused = await lease.pause?.();
  try {
    await using fresh = await lease.openVerifier(first.snapshot);
    await waitForServices(parts, evaluation, fresh.sandbox);
    await fresh.mark();
    return completed(
      evaluation,
      'first',
      await verify(parts, evaluation.content, { ...evaluation, lease: fresh, ofImage: originalTreeOf(lease), kept: [] }),
    );
  } finally {
    await paused?.[Symbol.asyncDispose]();
  }
}

async function secondVerification(parts: EngineParts, evaluation: Evaluating, taken: Taken | null): Promise<SecondVerification> {
  const { lease } = evaluation;
  const snapshot = taken?.snapshot ?? null;
  if (snapshot === null || lease.openVerifier === undefined)
    return { kind: 'not_made', reason: taken?.reason ?? 'there was no snapshot from before the verification' };
  try {
    await using fresh = await lease.openVerifier(snapshot);
    await waitForServices(parts, evaluation, fresh.sandbox);
    await fresh.mark();
    started(evaluation, 'second', 'isolated', []);
    const verified = completed(
      evaluation,
      'second',
      await verify(parts, evaluation.content, { ...evaluation, lease: fresh, ofImage: originalTreeOf(lease), kept: [] }),
    );
    return { kind: 'made', reading: verified.reading, missing: snapshot.missing };
  } catch (error) {
    return { kind: 'not_made', reason: `the second verification could not be made: ${messageOf(error)}` };
  }
}

function started(evaluation: Evaluation, pass: 'first' | 'second', place: 'in_place' | 'isolated', left: readonly LeftProcess[]): void {
  const { log, contract, outcomeId, iteration } = evaluation;
  log.write([
    log.draft(
      'verifier.started',
      {
        outcome_id: outcomeId,
        iteration,
        argv: contract.argv,
        user: contract.user,
        place,
        pass,
        time_limit_ms: evaluation.timeLimitMs,
        left: left.map(({ pid, argv, user, listening }) => ({ pid, argv: evaluation.redaction.text(argv), user, listening })),
        left_policy: evaluation.policy,
      },
      { author: 'engine' },
    ),
  ]);
}

function completed(evaluation: Evaluating, pass: 'first' | 'second', verified: Verified): Verified {
  const { log, outcomeId, iteration } = evaluation;
  const reading = verified.reading;
  const data: EventData<'verifier.completed'> = {
    outcome_id: outcomeId,
    iteration,
    pass,
    exit: verified.exit,
    duration_ms: verified.durationMs,
    output: verified.output,
    files: verified.files,
    reward: reading.kind === 'reward' ? reading.reward : null,
    rewards: reading.rewards ?? null,
    reward_source: reading.kind === 'reward' ? reading.source : null,
    failure: reading.kind === 'unreadable' ? reading.reason : null,
    failure_detail: reading.kind === 'unreadable' ? reading.detail : null,
    tests: verified.tests,
  };
  evaluation.evidence.push(log.append([log.draft('verifier.completed', data, { author: 'engine' })]).then((rows) => rows[0]?.seq ?? 0));
  if (reading.kind === 'reward')
    for (const message of reading.warnings)
      log.write([log.draft('warning', { code: 'reward_note', message, outcome_id: outcomeId, iteration }, { author: 'engine' })]);
  return verified;
}

type Facts = {
  judgement: Judgement;
  first: Verified;
  second: SecondVerification;
  alive: readonly LeftProcess[];
  isolated: boolean;
  start: number;
};

async function record(parts: EngineParts, evaluation: Evaluating, facts: Facts): Promise<Evaluated> {
  const { log, contract, lease, outcomeId, iteration } = evaluation;
  const { judgement, first } = facts;
  const feedback = composeFeedback({
    level: evaluation.feedback,
    verdict: judgement.verdict,
    reading: first.reading,
    threshold: contract.pass_threshold,
    tests: first.tests,
    log: first.outputTail,
  });
  const revises = judgement.verdict === 'needs_revision' && iteration < evaluation.maxIterations;
  if (revises && !facts.isolated && first.exit.kind !== 'lost') {
    await removeVerifierFiles(lease, contract);
    if (facts.alive.length > 0)
      log.write([
        log.draft(
          'warning',
          {
            code: 'tests_exposed',
            message: 'verifier files lay beside running processes of the agent, which will work on',
            outcome_id: outcomeId,
            iteration,
          },
          { author: 'engine' },
        ),
      ]);
  }
  await log.append([
    log.draft(
      'outcome.evaluation_completed',
      {
        outcome_id: outcomeId,
        iteration,
        verdict: judgement.verdict,
        reward: judgement.reward,
        rewards: judgement.rewards,
        pass_threshold: contract.pass_threshold,
        reward_minimum: contract.reward_range[0],
        firmness: judgement.firmness,
        firmness_reason: judgement.firmnessReason,
        failure: judgement.failure,
        failure_detail: judgement.failureDetail === null ? null : evaluation.redaction.text(judgement.failureDetail),
        attribution: judgement.attribution,
        feedback,
        duration_ms: Math.round(parts.clock.elapsed() - facts.start),
        evidence: await Promise.all(evaluation.evidence),
      },
      { author: 'engine' },
    ),
  ]);
  return { judgement, feedback };
}
