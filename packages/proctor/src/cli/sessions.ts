import type { Client } from '../api/client.ts';
import { AppError } from '../domain/errors.ts';
import { EVENT_DATA, type EventRow, type EventType } from '../domain/events.ts';
import { terminalJson, terminalLine } from '../domain/terminal-text.ts';
import { aligned, localTime, table } from './columns.ts';
import type { Call } from './command.ts';
import { withClient } from './open.ts';
import { meant } from './program.ts';
import { projectionText } from './session-text.ts';
import { tell } from './tell.ts';

export async function list(call: Call): Promise<number> {
  const experiment = call.given.text('experiment');
  const limit = call.given.number('limit') ?? 50;
  const found = await withClient(call, (client) => client.call('sessions.list', { limit, ...(experiment === null ? {} : { experiment }) }));
  return tell(call, found, (all) => {
    if (all.length === 0) return 'No Session yet: `proctor eval experiment` makes them.\n';
    const rows = all.map((one) => [
      one.id,
      one.status,
      terminalLine(one.task ?? '—'),
      terminalLine(one.lane ?? '—'),
      terminalLine(one.experiment ?? '—'),
      String(one.last_seq),
      localTime(one.last_at),
    ]);
    return table(['session', 'status', 'task', 'lane', 'experiment', 'events', 'last'], rows, call.terminal.paint.dim);
  });
}

export async function show(call: Call): Promise<number> {
  const found = await withClient(call, (client) => client.call('sessions.show', { session_id: call.words[0] ?? '' }));
  return tell(call, found, projectionText);
}

export async function events(call: Call): Promise<number> {
  const id = call.words[0] ?? '';
  const types = eventTypes(call.given.list('type'));
  const write = (row: EventRow) => {
    if (types.length > 0 && !types.includes(row.type)) return;
    call.terminal.out(call.given.flag('json') ? `${terminalJson(JSON.stringify(whole(row)))}\n` : line(row));
  };
  await withClient(call, async (client) => {
    const after = call.given.number('after') ?? 0;
    if (call.given.flag('follow')) {
      for await (const row of client.follow(id, { after, signal: new AbortController().signal })) write(row);
    } else {
      for await (const row of pages(client, id, after)) write(row);
    }
  });
  return 0;
}

export async function verify(call: Call): Promise<number> {
  const found = await withClient(call, (client) => client.call('sessions.verify', { session_id: call.words[0] ?? '' }));
  tell(call, found, (one) => {
    const absent = one.absent === 0 ? '' : `; the content of ${one.absent} is absent, which the chain allows`;
    if (one.faults.length === 0) return `The chain holds: ${one.events} events${absent}.\n`;
    return `The chain is broken: ${one.faults.length} faults in ${one.events} events${absent}.\n${aligned(
      one.faults.map((fault) => [String(fault.seq), fault.kind, terminalLine(fault.detail)]),
      '  ',
    )}`;
  });
  return found.faults.length === 0 ? 0 : 1;
}

export async function close(call: Call): Promise<number> {
  const closed = await withClient(call, (client) => client.call('sessions.close', { session_id: call.words[0] ?? '' }));
  return tell(call, closed, (one) => (one.closed ? 'Closed.\n' : 'It was closed before.\n'));
}

/** All events of a Session in pages, so that a long log is never held whole. */
async function* pages(client: Client, id: string, after: number): AsyncGenerator<EventRow> {
  for (let last = after; ; ) {
    const rows = await client.call('sessions.events', { session_id: id, after: last, limit: PAGE });
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE) return;
    last = end.seq;
  }
}

/** With `data` as a value; null = its content was removed. */
function whole(row: EventRow): unknown {
  return { ...row, data: row.data === null ? null : (JSON.parse(row.data) as unknown) };
}

function line(row: EventRow): string {
  const text = row.data === null ? '(content absent)' : terminalLine(row.data);
  return `${String(row.seq).padStart(5)}  ${localTime(row.at)}  ${row.type.padEnd(30)}  ${text.length > 200 ? `${text.slice(0, 199)}…` : text}\n`;
}

function eventTypes(names: readonly string[]): EventType[] {
  return names.map((name) => {
    const known = Object.keys(EVENT_DATA).find((one): one is EventType => one === name);
    if (known === undefined)
      throw new AppError('usage', `--type: no event type ${JSON.stringify(name)}${meant(name, Object.keys(EVENT_DATA))}`);
    return known;
  });
}

const PAGE = 1000;
