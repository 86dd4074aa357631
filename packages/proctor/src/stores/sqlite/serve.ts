import type { MessagePort } from 'node:worker_threads';
import { AppError } from '../../domain/errors.ts';
import { text } from './columns.ts';
import { CommitQueue } from './commit-queue.ts';
import { type Connection, connect, retryWhileBusy } from './connection.ts';
import { asAppError } from './faults.ts';
import { LaterParts, PartsInbox } from './later-parts.ts';
import { requestTable } from './request-table.ts';
import type { Answer, Failure, FromWorker, Opening, PartsEnd, Requests, ToWorker } from './requests.ts';
import { Reserve } from './reserve.ts';
import { summaryReader } from './summary-rows.ts';
import { watchOthers } from './watch-others.ts';

/** Opens the store and answers requests until it is told to close. */
export async function serve(port: MessagePort, { parts, ...opening }: Opening & { parts: PartsEnd }): Promise<void> {
  const send = (message: FromWorker): void => port.postMessage(message);
  let connection: Connection;
  try {
    connection = await connect(opening.home, opening.newId);
  } catch (error) {
    send({ refused: failure(error, opening.home) });
    port.close();
    parts.port.close();
    return;
  }
  const inbox = new PartsInbox(parts);
  const { database, file, readOnly } = connection;
  const { reads, writes } = requestTable(connection, opening.home);
  const reserve = new Reserve(opening.home, opening.reserveBytes);
  const watch = watchOthers(database, () => send({ changed: true }));
  let summaries: Requests['summaries'] | null = null;
  let answers: Answer[] = [];
  let hasReserve = readOnly;
  const queue = new CommitQueue(connection, reserve, () => {
    if (answers.length > 0) send({ answers });
    answers = [];
    if (!hasReserve) setImmediate(() => reserve.keep());
    hasReserve = true;
  });

  const receive = (message: ToWorker): void => {
    if ('close' in message) {
      close();
      return;
    }
    const { call, name, args } = message;
    if (isName(writes, name)) {
      const later = message.later === undefined ? null : new LaterParts(inbox, call, message.later);
      queue.add({
        run: () => Reflect.apply(writes[name], writes, later === null ? args : [...args, later]),
        isEnding: isEnding(name, args),
        done: (result) => {
          later?.drain();
          answers.push('value' in result ? { call, value: result.value } : { call, failure: failure(result.error, file) });
        },
      });
      return;
    }
    if (name === 'summaries' && summaries === null) {
      // The fold is loaded by the first report only: every command starts this worker.
      void import('../../domain/summary.ts').then(({ SummaryFold }) => {
        summaries = summaryReader(database, SummaryFold);
        receive(message);
      });
      return;
    }
    const read = isName(reads, name) ? reads[name] : name === 'summaries' ? summaries : watch;
    retryWhileBusy(() => Reflect.apply(read ?? watch, reads, args)).then(
      (value) => send({ answers: [{ call, value }] }),
      (error) => send({ answers: [{ call, failure: failure(error, file) }] }),
    );
  };

  const close = (): void => {
    if (!queue.isIdle) {
      setTimeout(close, 2);
      return;
    }
    watch(false);
    database.close();
    send({ closed: true });
    port.close();
    parts.port.close();
  };

  port.on('message', receive);
  send({ opened: { id: text(database.prepare('SELECT id FROM store').get()?.id), readOnly } });
}

function isName<T extends object>(table: T, name: PropertyKey): name is keyof T {
  return Object.hasOwn(table, name);
}

/** What a full disk still takes: the end of something, and whatever makes room. */
function isEnding(name: keyof Requests, args: unknown[]): boolean {
  if (name !== 'append' && !ADDS.has(name)) return true;
  const [request] = args;
  if (name !== 'append' || typeof request !== 'object' || request === null || !('sealed' in request)) return false;
  return typeof request.sealed === 'object' && request.sealed !== null && 'isEnding' in request.sealed && request.sealed.isEnding === true;
}

const ADDS: ReadonlySet<keyof Requests> = new Set<keyof Requests>(['create', 'putRecord', 'putBlob']);

function failure(error: unknown, file: string): Failure {
  const { code, message, details } = error instanceof AppError ? error : asAppError(error, file);
  return { code, message, details };
}
