import type { Agent } from '../agent.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import { proxySecrets } from '../domain/host-network.ts';
import { after } from '../domain/outcome.ts';
import { createRedaction, type Redaction } from '../domain/redaction.ts';
import { evaluate } from './evaluate.ts';
import { EnvironmentFailure } from './frozen.ts';
import { OutputEvents } from './output-events.ts';
import { type Provisioned, provision } from './provision.ts';
import { provisionedEvents } from './provisioned-events.ts';
import { revisionMessage, writeFeedback } from './revision.ts';
import { type AgentRunEnd, runAgent } from './run-agent.ts';
import { ENGINE, type OpenOutcome, type SessionSettings } from './session-settings.ts';
import { recordEnvironmentFailure, recordLastWords, type Settlement, settle } from './settlement.ts';

const LABELS_LAST_MS = 48 * 3_600_000;

/** The work of one Session: sandbox, Runs, evaluations, settlement. The platform's failures are mapped here, once. */
export class SessionWork {
  outcome: OpenOutcome | null = null;
  #settings: SessionSettings;
  #provisioned: Provisioned | null = null;
  #agent: Agent | null = null;
  #redaction: Redaction = createRedaction([]);
  #giveRoomBack: (() => void) | null = null;
  #interrupt = new AbortController();

  constructor(settings: SessionSettings) {
    this.#settings = settings;
  }

  interrupt(): void {
    this.#interrupt.abort();
  }

  /** From a posted message until the Session is idle again. Never rejects. */
  async drive(message: string): Promise<void> {
    const { log } = this.#settings;
    this.#interrupt = new AbortController();
    log.write([log.draft('session.status', { status: 'running' }, ENGINE)]);
    try {
      await this.#loop(message, await this.#provision());
    } catch (error) {
      await this.#failed(error);
    }
  }

  /** Removes the sandbox and gives the room back. */
  async release(): Promise<void> {
    await this.#provisioned?.lease[Symbol.asyncDispose]();
    this.#provisioned = null;
    this.#giveRoomBack?.();
    this.#giveRoomBack = null;
  }

  async #loop(message: string, provisioned: Provisioned): Promise<void> {
    let input = message;
    let feedback: string | null = null;
    for (;;) {
      const outcome = this.outcome;
      if (outcome !== null) outcome.iteration += 1;
      const end = await this.#run(input, feedback, provisioned);
      if (end.kind === 'interrupted')
        return this.#settle({ result: 'interrupted', reason: 'user', attribution: 'cancelled', reward: null });
      if (end.kind === 'failed' && end.data.reason === 'infrastructure') {
        return this.#settle({ result: 'failed', reason: 'sandbox_lost', attribution: 'infrastructure', reward: null });
      }
      if (outcome === null) return this.#settle(null);
      const { judgement, feedback: said } = await this.#evaluate(outcome, provisioned);
      outcome.evaluations += 1;
      if (this.#interrupt.signal.aborted) {
        return this.#settle({ result: 'interrupted', reason: 'user', attribution: 'cancelled', reward: null });
      }
      const step = after(judgement, outcome.iteration, outcome.definition.max_iterations);
      if (step.kind === 'settle') {
        return this.#settle({ result: step.result, reason: step.reason, attribution: judgement.attribution, reward: judgement.reward });
      }
      feedback = said;
      const attemptsLeft = outcome.definition.max_iterations - outcome.iteration;
      input = revisionMessage({ task: outcome.definition.description, rubric: outcome.definition.rubric ?? null, feedback, attemptsLeft });
      await writeFeedback(provisioned.lease.sandbox, feedback);
    }
  }

  async #provision(): Promise<Provisioned> {
    if (this.#provisioned !== null) return this.#provisioned;
    const { parts, id, log, frozen, content, room, onPhase } = this.#settings;
    const { ask, agent, task } = frozen;
    const signal = this.#interrupt.signal;
    onPhase('admission');
    this.#giveRoomBack ??= await room.take({ cpus: ask.cpus, memoryMb: ask.memoryMb }, signal).catch((cause) => {
      throw new EnvironmentFailure('provision', 'cancelled', 'interrupted', 'interrupted while waiting for room on this host', { cause });
    });
    this.#agent = await parts
      .agentKind(agent.spec.kind)
      .make(agent.spec, { task, hostEnvironment: parts.hostEnvironment, filesFor: (digest) => parts.agentFiles(digest) });
    const ofProxies = [parts.hostEnvironment, frozen.chosen.abilities.hostNetwork?.configured ?? {}].flatMap(proxySecrets);
    this.#redaction = createRedaction([...this.#agent.redact, ...ofProxies]);
    const expiresAt = new Date(parts.clock.now().getTime() + LABELS_LAST_MS).toISOString();
    const labels = { store: parts.store.id, owner: parts.owner, session: id, expiresAt };
    const made = await provision(parts, { frozen, agent: this.#agent, agentDigest: agent.digest, content, labels, signal, onPhase });
    this.#provisioned = made;
    log.write(await provisionedEvents(parts, log, made, ask, this.#redaction));
    await made.lease.mark();
    return made;
  }

  async #run(input: string, feedback: string | null, provisioned: Provisioned): Promise<AgentRunEnd> {
    const { parts, log, frozen } = this.#settings;
    const agent = this.#agent;
    if (agent === null) throw new AppError('internal', 'expected an agent after provisioning, found none');
    const runId = parts.newId('run');
    const by = { author: 'engine', runId };
    const timeLimitMs = frozen.task?.limits.agent_timeout_ms ?? agent.timeLimitMs;
    const iteration = this.outcome?.iteration ?? 1;
    log.write([log.draft('run.started', { iteration, input: null, time_limit_ms: timeLimitMs }, by)]);
    const output = new OutputEvents(log, runId);
    const hadRoom = !(provisioned.lease.outOfMemory?.() ?? false);
    const end = await runAgent(parts, {
      agent,
      sandbox: provisioned.lease.sandbox,
      workdir: provisioned.workdir,
      user: frozen.task?.agent.user ?? frozen.ask.user,
      input,
      feedback,
      iteration,
      attemptsLeft: (this.outcome?.definition.max_iterations ?? 1) - iteration,
      timeLimitMs,
      signal: this.#interrupt.signal,
      redaction: this.#redaction,
      onMessage: ({ type, ...data }) => log.write([log.draft(type, this.#redaction.json(data) as never, { author: 'agent', runId })]),
      onOutput: (stream, text) => output.push(stream, text),
    });
    output.flush();
    noteMemoryLimit(end, hadRoom && (provisioned.lease.outOfMemory?.() ?? false), frozen.ask.memoryMb);
    if (end.kind === 'interrupted') log.write([log.draft('run.interrupted', { reason: 'user', active_ms: end.activeMs }, by)]);
    else if (end.kind === 'failed') log.write([log.draft('run.failed', end.data, by)]);
    else log.write([log.draft('run.completed', end.data, by)]);
    return end;
  }

  #evaluate(outcome: OpenOutcome, provisioned: Provisioned) {
    const { parts, log, frozen, content } = this.#settings;
    const { definition, contract } = outcome;
    return evaluate(parts, {
      lease: provisioned.lease,
      log,
      content,
      task: frozen.task,
      contract,
      workdir: provisioned.workdir,
      outcomeId: outcome.id,
      iteration: outcome.iteration,
      maxIterations: definition.max_iterations,
      feedback: definition.feedback,
      policy: definition.live_processes ?? contract.live_processes,
      rewardKey: definition.reward_key ?? null,
      timeLimitMs: frozen.task?.limits.verifier_timeout_ms ?? 600_000,
      redaction: this.#redaction,
      signal: this.#interrupt.signal,
    });
  }

  async #settle(settlement: Settlement | null): Promise<void> {
    const outcome = this.outcome;
    this.outcome = null;
    await settle({ ...this.#settings, provisioned: this.#provisioned, outcome, settlement, redaction: this.#redaction });
  }

  async #failed(error: unknown): Promise<void> {
    const { log } = this.#settings;
    const failure = error instanceof EnvironmentFailure ? error : this.#platformFailure(error);
    try {
      await recordEnvironmentFailure(this.#settings, failure, this.#redaction);
      const ofUser = failure.attribution === 'cancelled';
      await this.#settle({
        result: ofUser ? 'interrupted' : 'failed',
        reason: ofUser ? 'user' : `environment_${failure.phase}`,
        attribution: failure.attribution,
        reward: null,
      });
    } catch {
      await recordLastWords(log, failure, this.#redaction);
    }
  }

  #platformFailure(error: unknown): EnvironmentFailure {
    const code = error instanceof AppError ? error.code : 'internal';
    const log = error instanceof Error ? (error.stack ?? null) : null;
    const phase = this.#provisioned === null ? 'provision' : 'verification';
    const ofTask = error instanceof AppError && error.details.attribution === 'task';
    return new EnvironmentFailure(phase, ofTask ? 'task' : 'infrastructure', code, messageOf(error), { log, cause: error });
  }
}

/** A limit that the task set is the agent's to keep: the run is graded as it stands, and says why it ended so. */
function noteMemoryLimit(end: AgentRunEnd, reached: boolean, memoryMb: number | null): void {
  if (!reached || end.kind !== 'failed' || end.data.reason !== 'non_zero_exit') return;
  end.data.reason = 'limit_reached';
  end.data.detail = `${end.data.detail} after the memory limit of ${memoryMb ?? 'the host'} MiB was reached`;
}
