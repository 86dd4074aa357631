import { CLIENT_EVENT_DATA, type ClientEventType, type EventData, type EventRow } from '../domain/events.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import { after, type LivePolicy } from '../domain/outcome.ts';
import { createRedaction, type Redaction } from '../domain/redaction.ts';
import { openOutcome } from '../domain/session.ts';
import type { VerifierContract } from '../domain/task.ts';
import type { Attribution, OutcomeResult } from '../domain/verdict.ts';
import type { Agent } from '../agent.ts';
import type { TreeContent } from '../system/tree-content.ts';
import { checkDeliverables } from './deliverables.ts';
import { evaluate } from './evaluate.ts';
import { EnvironmentFailure, type Frozen } from './frozen.ts';
import { keepOutput } from './kept-output.ts';
import { OutputEvents } from './output-events.ts';
import { OutputKeeper } from './output-keeper.ts';
import type { EngineParts } from './parts.ts';
import { provision, type Provisioned } from './provision.ts';
import { revisionMessage, writeFeedback } from './revision.ts';
import { runAgent, type AgentRunEnd } from './run-agent.ts';
import type { SessionLog } from './session-log.ts';
import { keepEvidence, keepState } from './evidence.ts';
import { stateKey } from './open-box.ts';

type Definition = EventData<'outcome.defined'>['definition'];
type Outcome = { id: string; definition: Definition; contract: VerifierContract; iteration: number };

/** Takes room on this host before a sandbox is made, and gives it back. */
export type HostRoom = { take(need: { cpus: number | null; memoryMb: number | null }, signal: AbortSignal): Promise<() => void> };

export type SessionPhase = 'admission' | 'image' | 'provision' | 'agent_setup';

export type LiveSessionParts = {
  parts: EngineParts;
  id: string;
  log: SessionLog;
  frozen: Frozen;
  content: TreeContent;
  room: HostRoom;
  keepState: boolean;
  /** Hints for people who watch. */
  onPhase(phase: SessionPhase): void;
};

/** One Session while this process is its writer: takes a client's events, does the work, and records what happened. */
export class LiveSession {
  readonly id: string;
  #parts: EngineParts;
  #log: SessionLog;
  #frozen: Frozen;
  #content: TreeContent;
  #room: HostRoom;
  #onPhase: (phase: SessionPhase) => void;
  #keepState: boolean;
  #outcome: Outcome | null = null;
  #provisioned: Provisioned | null = null;
  #agent: Agent | null = null;
  #redaction: Redaction = createRedaction([]);
  #release: (() => void) | null = null;
  #interrupt = new AbortController();
  #work: Promise<void> | null = null;
  #closed: Promise<void> | null = null;

  constructor(given: LiveSessionParts) {
    this.#parts = given.parts;
    this.id = given.id;
    this.#log = given.log;
    this.#frozen = given.frozen;
    this.#content = given.content;
    this.#room = given.room;
    this.#onPhase = given.onPhase;
    this.#keepState = given.keepState;
  }

  /** Appends one `user.*` event under its rules; resolves when it is durable. The work it starts goes on after that. */
  async post(type: ClientEventType, data: Record<string, unknown>, author: string): Promise<EventRow> {
    const parsed = CLIENT_EVENT_DATA[type].safeParse(data);
    if (!parsed.success) throw new AppError('invalid_configuration', `${type}: ${parsed.error.issues.map((issue) => `${issue.path.join('.') || 'data'}: ${issue.message}`).join('; ')}`);
    const { status, stop_reason, pending } = this.#log.projection;
    if (status === 'closed' || this.#closed !== null) throw new AppError('session_busy', `Session ${this.id} is closed: create a new one`);
    switch (type) {
      case 'user.define_outcome':
        return this.#define(parsed.data as Definition, author, status === 'pending' || (status === 'idle' && stop_reason !== 'requires_action' && this.#work === null));
      case 'user.message':
        if (pending?.kind === 'outcome_evaluation') throw new AppError('platform_wait', 'an evaluation is running: wait for outcome.settled, or post user.interrupt');
        if (this.#work !== null) throw new AppError('session_busy', 'a Run is in progress: wait until the Session is idle, or post user.interrupt');
        return this.#message(parsed.data as EventData<'user.message'>, author);
      case 'user.interrupt': {
        const row = await this.#one(type, parsed.data, author);
        this.#interrupt.abort();
        return row;
      }
      case 'user.tool_confirmation':
        throw new AppError('conflict', 'no tool approval is waited for in this Session');
      default:
        return type satisfies never;
    }
  }

  /** Resolves when no work is going on. */
  async idle(): Promise<void> {
    await this.#work;
  }

  close(reason: EventData<'session.closed'>['reason'], detail?: string): Promise<void> {
    this.#closed ??= this.#close(reason, detail);
    return this.#closed;
  }

  async #close(reason: EventData<'session.closed'>['reason'], detail?: string): Promise<void> {
    this.#interrupt.abort();
    await this.#work?.catch(() => {});
    await this.#provisioned?.lease[Symbol.asyncDispose]();
    this.#provisioned = null;
    this.#giveRoomBack();
    await this.#log.append([this.#log.draft('session.closed', { reason, ...(detail === undefined ? {} : { detail }) }, ENGINE)]).catch(() => []);
    await this.#log.release().catch(() => {});
  }

  async #define(definition: Definition, author: string, isFree: boolean): Promise<EventRow> {
    if (!isFree) throw new AppError('session_busy', 'an Outcome is defined on a pending or idle Session only: wait until it is idle');
    if (openOutcome(this.#log.projection) !== null) throw new AppError('session_busy', 'this Session has an Outcome that has not settled: wait for outcome.settled');
    if (definition.grader === undefined && definition.rubric === undefined) throw new AppError('invalid_configuration', 'an Outcome needs a grader or a rubric: found neither');
    if (definition.grader === undefined) throw new AppError('grader_unavailable', 'an Outcome with a rubric alone needs the rubric grader, which this build lacks: give a verifier', { details: { grader: 'rubric' } });
    const contract = definition.grader as unknown as VerifierContract;
    if (this.#parts.rewardFormat(contract.reward_format) === null) throw new AppError('grader_unavailable', `reward format ${contract.reward_format} is unknown to this build`, { details: { grader: contract.reward_format } });
    checkDeliverables(definition.deliverables, this.#frozen.captureRoots);
    const outcomeId = this.#parts.newId('outc');
    const rows = await this.#log.append([
      this.#log.draft('user.define_outcome', definition, { author }),
      this.#log.draft('outcome.defined', { outcome_id: outcomeId, definition }, ENGINE),
    ]);
    this.#outcome = { id: outcomeId, definition, contract, iteration: 0 };
    return rows[0] as EventRow;
  }

  async #message(data: EventData<'user.message'>, author: string): Promise<EventRow> {
    this.#interrupt = new AbortController();
    const row = await this.#one('user.message', data, author);
    const input = data.content.map((part) => part.text).join('\n');
    this.#work = this.#drive(input)
      .catch((error) => this.#broken(error))
      .finally(() => {
        this.#work = null;
      });
    return row;
  }

  async #one(type: ClientEventType, data: unknown, author: string): Promise<EventRow> {
    const rows = await this.#log.append([{ type, at: this.#parts.clock.now().toISOString(), author, data } as never]);
    return rows[0] as EventRow;
  }

  /** From a posted message until the Session is idle again. An agent's failure is recorded, the platform's failure is mapped here, once. */
  async #drive(message: string): Promise<void> {
    this.#log.write([this.#log.draft('session.status', { status: 'running' }, ENGINE)]);
    try {
      const provisioned = await this.#provision();
      await this.#loop(message, provisioned);
    } catch (error) {
      if (!(error instanceof EnvironmentFailure)) throw error;
      await this.#environmentFailed(error);
    }
  }

  async #loop(message: string, provisioned: Provisioned): Promise<void> {
    let input = message;
    let feedback: string | null = null;
    for (;;) {
      const outcome = this.#outcome;
      if (outcome !== null) outcome.iteration += 1;
      const end = await this.#run(input, feedback, provisioned);
      if (end.kind === 'interrupted') return this.#settle('interrupted', 'user', 'cancelled', null);
      if (end.kind === 'failed' && end.data.reason === 'infrastructure') return this.#settle('failed', 'sandbox_lost', 'infrastructure', null);
      if (outcome === null) return this.#idle('end_turn');
      const evaluated = await this.#evaluate(outcome, provisioned);
      if (this.#interrupt.signal.aborted) return this.#settle('interrupted', 'user', 'cancelled', null);
      const step = after(evaluated.judgement, outcome.iteration, outcome.definition.max_iterations);
      if (step.kind === 'settle') return this.#settle(step.result, step.reason, evaluated.judgement.attribution, evaluated.judgement.reward);
      feedback = evaluated.feedback;
      input = revisionMessage({ task: outcome.definition.description, rubric: outcome.definition.rubric ?? null, feedback, attemptsLeft: outcome.definition.max_iterations - outcome.iteration });
      await writeFeedback(provisioned.lease.sandbox, feedback);
    }
  }

  async #provision(): Promise<Provisioned> {
    if (this.#provisioned !== null) return this.#provisioned;
    const { ask, agent, task } = this.#frozen;
    const signal = this.#interrupt.signal;
    this.#onPhase('admission');
    this.#release ??= await this.#room.take({ cpus: ask.cpus, memoryMb: ask.memoryMb }, signal).catch((cause) => {
      throw new EnvironmentFailure('provision', 'cancelled', 'interrupted', 'interrupted while waiting for room on this host', { cause });
    });
    const kind = this.#parts.agentKind(agent.spec.kind);
    this.#agent = await kind.make(agent.spec, { task, hostEnvironment: this.#parts.hostEnvironment, filesFor: (digest) => this.#parts.agentFiles(digest) });
    this.#redaction = createRedaction(this.#agent.redact);
    const labels = { store: this.#parts.store.id, owner: this.#parts.owner, session: this.id, expiresAt: new Date(this.#parts.clock.now().getTime() + 48 * 3_600_000).toISOString() };
    const made = await provision(this.#parts, { frozen: this.#frozen, agent: this.#agent, agentDigest: agent.digest, content: this.#content, labels, signal, onPhase: this.#onPhase });
    this.#provisioned = made;
    const { facts } = made.lease;
    const buildLog = made.buildLog === null ? null : await this.#keepText(made.buildLog);
    const notEnforced = [...new Set([...ask.notEnforced, ...facts.notEnforced])];
    this.#log.write([
      this.#log.draft(
        'environment.provisioned',
        {
          provider: facts.provider,
          isolation: facts.isolation,
          image_id: facts.imageId,
          image_digest: facts.imageDigest,
          image_built: made.imageBuilt,
          platform: facts.platform,
          workdir: made.workdir,
          network: facts.network,
          not_enforced: notEnforced,
          engine: facts.engine,
          build_ms: made.buildMs,
          provision_ms: Math.round(made.provisionMs),
          agent_setup_ms: made.agentSetupMs,
          build_log: buildLog,
        },
        ENGINE,
      ),
      ...ask.notes.map((note) => this.#log.draft('warning', { code: note.startsWith('network') ? 'network_closed' : 'isolation_weaker', message: note }, ENGINE)),
    ]);
    await made.lease.mark();
    return made;
  }

  async #run(input: string, feedback: string | null, provisioned: Provisioned): Promise<AgentRunEnd> {
    const agent = this.#agent;
    if (agent === null) throw new AppError('internal', 'expected an agent after provisioning, found none');
    const runId = this.#parts.newId('run');
    const { task } = this.#frozen;
    const timeLimitMs = task?.limits.agent_timeout_ms ?? agent.timeLimitMs;
    const iteration = this.#outcome?.iteration ?? 1;
    const by = { author: 'engine', runId };
    this.#log.write([this.#log.draft('run.started', { iteration, input: null, time_limit_ms: timeLimitMs }, by)]);
    const output = new OutputEvents(this.#log, runId);
    const end = await runAgent(this.#parts, {
      agent,
      sandbox: provisioned.lease.sandbox,
      workdir: provisioned.workdir,
      user: task?.agent.user ?? this.#frozen.ask.user,
      input,
      feedback,
      iteration,
      attemptsLeft: (this.#outcome?.definition.max_iterations ?? 1) - iteration,
      timeLimitMs,
      signal: this.#interrupt.signal,
      redaction: this.#redaction,
      onMessage: ({ type, ...data }) => this.#log.write([this.#log.draft(type, this.#redaction.json(data) as never, { author: 'agent', runId })]),
      onOutput: (stream, text) => output.push(stream, text),
    });
    output.flush();
    if (end.kind === 'interrupted') this.#log.write([this.#log.draft('run.interrupted', { reason: 'user', active_ms: end.activeMs }, by)]);
    else if (end.kind === 'failed') this.#log.write([this.#log.draft('run.failed', end.data, by)]);
    else this.#log.write([this.#log.draft('run.completed', end.data, by)]);
    return end;
  }

  #evaluate(outcome: Outcome, provisioned: Provisioned) {
    const { definition, contract } = outcome;
    const policy: LivePolicy = definition.live_processes ?? contract.live_processes;
    return evaluate(this.#parts, {
      lease: provisioned.lease,
      log: this.#log,
      content: this.#content,
      task: this.#frozen.task,
      contract,
      workdir: provisioned.workdir,
      outcomeId: outcome.id,
      iteration: outcome.iteration,
      maxIterations: definition.max_iterations,
      feedback: definition.feedback,
      policy,
      rewardKey: definition.reward_key ?? null,
      timeLimitMs: this.#frozen.task?.limits.verifier_timeout_ms ?? 600_000,
      redaction: this.#redaction,
      signal: this.#interrupt.signal,
    });
  }

  async #settle(result: OutcomeResult, reason: string | null, attribution: Attribution | null, reward: number | null): Promise<void> {
    const outcome = this.#outcome;
    if (outcome === null) return this.#idle(result === 'interrupted' ? 'end_turn' : 'error');
    const provisioned = this.#provisioned;
    if (provisioned !== null && reason !== 'sandbox_lost') {
      await keepEvidence({
        parts: this.#parts,
        log: this.#log,
        lease: provisioned.lease,
        outcomeId: outcome.id,
        deliverables: outcome.definition.deliverables,
        roots: this.#frozen.captureRoots,
        workdir: provisioned.workdir,
        satisfied: result === 'satisfied',
        agentKind: this.#frozen.agent.spec.kind,
      });
      if (this.#keepState) await keepState({ log: this.#log, lease: provisioned.lease, outcomeId: outcome.id, contract: outcome.contract, key: stateKey(this.id) });
    }
    const evaluations = this.#log.projection.outcomes.find((one) => one.id === outcome.id)?.iteration ?? 0;
    this.#outcome = null;
    await this.#log.append([
      this.#log.draft('outcome.settled', { outcome_id: outcome.id, result, reason, iterations: evaluations, reward, attribution }, ENGINE),
    ]);
    if (outcome.definition.report !== undefined) await this.#renderReports(outcome.id, outcome.definition.report);
    await this.#idle(result === 'failed' ? 'error' : 'end_turn');
  }

  /** What the definition asked to be rendered; it never touches the verdict. */
  async #renderReports(outcomeId: string, wanted: NonNullable<Definition['report']>): Promise<void> {
    const { store, renderReport } = this.#parts;
    for await (const [summary] of store.summaries({ ids: [this.id] })) {
      if (summary === undefined) continue;
      for (const format of wanted.formats) {
        const blob = await store.putBlob(Buffer.from(renderReport(format, wanted.title ?? this.id, summary)));
        this.#log.write([this.#log.draft('deliverable.captured', { outcome_id: outcomeId, path: `report.${format}`, state: 'kept', kind: 'report', bytes: blob.bytes, sha256: blob.sha256, mode: null }, ENGINE)]);
      }
    }
  }

  async #idle(reason: 'end_turn' | 'error'): Promise<void> {
    await this.#log.append([this.#log.draft('session.status', { status: 'idle', stop_reason: reason }, ENGINE)]);
  }

  async #environmentFailed(failure: EnvironmentFailure): Promise<void> {
    const log = failure.log === null ? null : await this.#keepText(failure.log);
    this.#log.write([this.#log.draft('environment.failed', { phase: failure.phase, attribution: failure.attribution, code: failure.code, message: this.#redaction.text(failure.message), log }, ENGINE)]);
    if (failure.attribution === 'cancelled') await this.#settle('interrupted', 'user', 'cancelled', null);
    else await this.#settle('failed', `environment_${failure.phase}`, failure.attribution, null);
  }

  /** The platform failed: the Outcome ends without a verdict, and the first cause is what is said. */
  async #broken(error: unknown): Promise<void> {
    const code = error instanceof AppError ? error.code : 'internal';
    const failure = new EnvironmentFailure(this.#provisioned === null ? 'provision' : 'verification', 'infrastructure', code, messageOf(error), { log: error instanceof Error ? (error.stack ?? null) : null, cause: error });
    await this.#environmentFailed(failure).catch(() => this.#lastWords(code, messageOf(error)));
  }

  async #lastWords(code: string, message: string): Promise<void> {
    const outcome = openOutcome(this.#log.projection);
    await this.#log
      .lastWords([
        this.#log.draft('environment.failed', { phase: 'provision', attribution: 'infrastructure', code, message: this.#redaction.text(message), log: null }, ENGINE),
        ...(outcome === null ? [] : [this.#log.draft('outcome.settled', { outcome_id: outcome.id, result: 'failed', reason: 'environment_provision', iterations: outcome.iteration, reward: null, attribution: 'infrastructure' }, ENGINE)]),
        this.#log.draft('session.closed', { reason: 'error', detail: message }, ENGINE),
      ])
      .catch(() => {});
  }

  /** Resolves with the cause when this Session's log can no longer be written. */
  get logBroken(): Promise<unknown> {
    return this.#log.broken;
  }

  async #keepText(text: string) {
    const keeper = new OutputKeeper(256 * 1024);
    keeper.push(this.#redaction.bytes(Buffer.from(text)));
    return keepOutput(this.#parts.store, keeper);
  }

  #giveRoomBack(): void {
    this.#release?.();
    this.#release = null;
  }
}

const ENGINE = { author: 'engine' };
