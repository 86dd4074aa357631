import type { DatabaseSync } from 'node:sqlite';
import type { SessionSummary, SummaryFold } from '../../domain/summary.ts';
import type { SessionFilter } from '../../store.ts';
import { integer, text, textOrNull } from './columns.ts';
import { eventType, placeOf } from './event-rows.ts';
import { filterClause } from './session-lists.ts';

/** How long one answer may keep the worker from its writes. */
const SLICE_MS = 20;
const SLICE_SESSIONS = 200;

/** Types whose data may be large and is of no use to the fold: it is not even read. */
const UNREAD = ['agent.output', 'agent.message', 'agent.thinking', 'agent.tool_result', 'user.message', 'model.request'];

type Fold = new (sessionId: string) => SummaryFold;

/** The next Sessions after number `after`, oldest first, each folded to its summary. Columns that no fold looks at are left empty. */
export function summaryReader(
  database: DatabaseSync,
  Fold: Fold,
): (filter: SessionFilter, after: number) => { summaries: SessionSummary[]; next: number | null } {
  const events = database.prepare(
    `SELECT place, type, at, run_id, CASE WHEN data IS NOT NULL AND type IN (${UNREAD.map((type) => `'${type}'`).join(', ')}) THEN '{}' ELSE data END
     FROM events WHERE place > ? AND place < ? ORDER BY place`,
  );
  // Half the cost of objects, and a report reads every row of an Experiment.
  events.setReturnArrays(true);
  const summarise = (number: number, id: string): SessionSummary => {
    const fold = new Fold(id);
    const first = placeOf(number, 0);
    for (const row of events.iterate(first, placeOf(number + 1, 0))) {
      fold.next({
        seq: integer(row[0]) - first,
        id: '',
        type: eventType(text(row[1])),
        at: text(row[2]),
        run_id: textOrNull(row[3]),
        author: '',
        data_sha256: '',
        prev: '',
        hash: '',
        data: textOrNull(row[4]),
      });
    }
    return fold.summary();
  };
  return (filter, after) => {
    const { where, values } = filterClause(filter);
    const limited =
      filter.limit === undefined
        ? `SELECT number, id FROM sessions WHERE ${where}`
        : `SELECT number, id FROM sessions WHERE ${where} ORDER BY number DESC LIMIT ${filter.limit}`;
    const sessions = database
      .prepare(`SELECT number, id FROM (${limited}) WHERE number > ? ORDER BY number LIMIT ?`)
      .all(...values, after, SLICE_SESSIONS);
    const until = performance.now() + SLICE_MS;
    const summaries: SessionSummary[] = [];
    let next: number | null = null;
    for (const session of sessions) {
      const number = integer(session.number);
      summaries.push(summarise(number, text(session.id)));
      next = number;
      if (performance.now() > until) return { summaries, next };
    }
    return { summaries, next: sessions.length < SLICE_SESSIONS ? null : next };
  };
}
