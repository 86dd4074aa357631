import { AppError } from '../domain/errors.ts';
import { CLIENT_EVENT_DATA, type ClientEventType, type EventData, type EventRow } from '../domain/events.ts';
import { openOutcome } from '../domain/session.ts';
import type { VerifierContract } from '../domain/task.ts';
import { checkDeliverables } from './deliverables.ts';
import { type Definition, ENGINE, type SessionSettings } from './session-settings.ts';
import { SessionWork } from './session-work.ts';

/** One Session while this process is its writer: takes a client's events under their rules, and starts the work they ask for. */
export class LiveSession {
  readonly id: string;
  #settings: SessionSettings;
  #work: SessionWork;
  #working: Promise<void> | null = null;
  #closed: Promise<void> | null = null;

  constructor(settings: SessionSettings) {
    this.id = settings.id;
    this.#settings = settings;
    this.#work = new SessionWork(settings);
  }

  /** Resolves with the cause when this Session's log can no longer be written. */
  get logBroken(): Promise<unknown> {
    return this.#settings.log.broken;
  }

  /** Appends one `user.*` event; resolves when it is durable. The work it starts goes on after that. */
  async post(type: ClientEventType, data: Record<string, unknown>, author: string): Promise<EventRow> {
    const parsed = CLIENT_EVENT_DATA[type].safeParse(data);
    if (!parsed.success) {
      const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'data'}: ${issue.message}`);
      throw new AppError('invalid_configuration', `${type}: ${problems.join('; ')}`);
    }
    const { status, pending } = this.#settings.log.projection;
    if (status === 'closed' || this.#closed !== null) throw new AppError('session_busy', `Session ${this.id} is closed: create a new one`);
    switch (type) {
      case 'user.define_outcome':
        return this.#define(parsed.data as Definition, author);
      case 'user.message':
        if (pending?.kind === 'outcome_evaluation') {
          throw new AppError('platform_wait', 'an evaluation is running: wait for outcome.settled, or post user.interrupt');
        }
        if (this.#working !== null) {
          throw new AppError('session_busy', 'a Run is in progress: wait until the Session is idle, or post user.interrupt');
        }
        return this.#message(parsed.data as EventData<'user.message'>, author);
      case 'user.interrupt': {
        const row = await this.#append(type, parsed.data, author);
        this.#work.interrupt();
        return row;
      }
      case 'user.tool_confirmation':
        throw new AppError('conflict', 'no tool approval is waited for in this Session');
      default:
        return type satisfies never;
    }
  }

  close(reason: EventData<'session.closed'>['reason']): Promise<void> {
    this.#closed ??= this.#close(reason);
    return this.#closed;
  }

  async #close(reason: EventData<'session.closed'>['reason']): Promise<void> {
    const { log } = this.#settings;
    this.#work.interrupt();
    await this.#working;
    await this.#work.release();
    await log.append([log.draft('session.closed', { reason }, ENGINE)]).catch(() => []);
    await log.release().catch(() => {});
  }

  async #define(definition: Definition, author: string): Promise<EventRow> {
    const { log, parts, frozen } = this.#settings;
    const { status, stop_reason } = log.projection;
    const isFree = status === 'pending' || (status === 'idle' && stop_reason !== 'requires_action');
    if (!isFree || this.#working !== null) {
      throw new AppError('session_busy', 'an Outcome is defined on a pending or idle Session only: wait until it is idle');
    }
    if (openOutcome(log.projection) !== null) {
      throw new AppError('session_busy', 'this Session has an Outcome that has not settled: wait for outcome.settled');
    }
    const contract = usableGrader(definition, (format) => parts.rewardFormat(format) !== null);
    checkDeliverables(definition.deliverables, frozen.captureRoots);
    const id = parts.newId('outc');
    const rows = await log.append([
      log.draft('user.define_outcome', definition, { author }),
      log.draft('outcome.defined', { outcome_id: id, definition }, ENGINE),
    ]);
    this.#work.outcome = { id, definition, contract, iteration: 0, evaluations: 0 };
    return first(rows);
  }

  async #message(data: EventData<'user.message'>, author: string): Promise<EventRow> {
    const row = await this.#append('user.message', data, author);
    const input = data.content.map((part) => part.text).join('\n');
    this.#working = this.#work.drive(input).finally(() => {
      this.#working = null;
    });
    return row;
  }

  async #append<T extends ClientEventType>(type: T, data: unknown, author: string): Promise<EventRow> {
    const { log } = this.#settings;
    return first(await log.append([log.draft(type, data as never, { author })]));
  }
}

function usableGrader(definition: Definition, knowsFormat: (name: string) => boolean): VerifierContract {
  if (definition.grader === undefined && definition.rubric === undefined) {
    throw new AppError('invalid_configuration', 'an Outcome needs a grader or a rubric: found neither');
  }
  if (definition.grader === undefined) {
    throw new AppError(
      'grader_unavailable',
      'an Outcome with a rubric alone needs the rubric grader, which this build lacks: give a verifier',
      {
        details: { grader: 'rubric' },
      },
    );
  }
  const contract = definition.grader as unknown as VerifierContract;
  if (knowsFormat(contract.reward_format)) return contract;
  throw new AppError('grader_unavailable', `reward format ${contract.reward_format} is unknown to this build`, {
    details: { grader: contract.reward_format },
  });
}

function first(rows: readonly EventRow[]): EventRow {
  const [row] = rows;
  if (row === undefined) throw new AppError('internal', 'expected an appended event, found none');
  return row;
}
