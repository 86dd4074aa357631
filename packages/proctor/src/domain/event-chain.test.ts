import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { ChainCheck, seal } from './event-chain.ts';
import type { EventRow, EventType } from './events.ts';

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const AT = '2026-01-01T00:00:00.000Z';

function log(count: number, author = 'local:0'): EventRow[] {
  const rows: EventRow[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    const draft = {
      type: 'agent.message' as const,
      at: AT,
      author,
      run_id: seq % 2 === 0 ? 'run_"1"' : undefined,
      data: { text: `${seq}` },
    };
    rows.push(seal(draft, { seq, id: `evnt_${seq}`, prev: rows.at(-1)?.hash ?? '' }, sha256));
  }
  return rows;
}

function faultsOf(rows: readonly EventRow[]) {
  const check = new ChainCheck(sha256);
  for (const row of rows) check.next(row);
  return { faults: check.faults.map(({ seq, kind }) => `${seq} ${kind}`), events: check.events, absent: check.absent };
}

test('the hash covers the canonical JSON of everything but data, which has its own', () => {
  const [, row] = log(2);
  const { data, hash, ...head } = row!;
  expect(hash).toBe(sha256(canonicalJson(head)));
  expect(head.data_sha256).toBe(sha256(data!));
  expect(data).toBe('{"text":"2"}');
});

test('text of a sender that needs escaping or is not well-formed is sealed as it is kept', () => {
  const rows = log(3, 'a "quoted"\n \ud800 author');
  expect(rows[0]!.author).toBe('a "quoted"\n \ufffd author');
  expect(faultsOf(rows)).toEqual({ faults: [], events: 3, absent: 0 });
});

describe('a check of the chain', () => {
  test('finds nothing wrong with what was sealed', () => {
    expect(faultsOf(log(5))).toEqual({ faults: [], events: 5, absent: 0 });
  });

  test('counts content that was removed, and does not blame it', () => {
    const rows = log(3).map((row) => (row.seq === 2 ? { ...row, data: null } : row));
    expect(faultsOf(rows)).toEqual({ faults: [], events: 3, absent: 1 });
  });

  test.each<[string, (rows: EventRow[]) => EventRow[], string[]]>([
    ['changed data', (rows) => change(rows, 2, { data: '{"text":"forged"}' }), ['2 wrong_data']],
    ['changed data with its digest', (rows) => change(rows, 2, { data: '{}', data_sha256: sha256('{}') }), ['2 wrong_hash']],
    ['a changed author', (rows) => change(rows, 3, { author: 'someone' }), ['3 wrong_hash']],
    ['a changed time', (rows) => change(rows, 3, { at: '2027-01-01T00:00:00.000Z' }), ['3 wrong_hash']],
    ['a changed type', (rows) => change(rows, 3, { type: 'agent.thinking' satisfies EventType }), ['3 wrong_hash']],
    ['a missing event', (rows) => rows.filter((row) => row.seq !== 3), ['4 gap', '4 broken_link']],
    ['a missing beginning', (rows) => rows.slice(1), ['2 gap', '2 broken_link']],
    [
      'two events the other way round',
      (rows) => [rows[0]!, rows[2]!, rows[1]!, rows[3]!],
      ['3 gap', '3 broken_link', '2 gap', '2 broken_link', '4 gap', '4 broken_link'],
    ],
    ['an event twice', (rows) => [rows[0]!, rows[0]!, ...rows.slice(1)], ['1 gap', '1 broken_link']],
  ])('finds %s', (_what, tamper, expected) => {
    expect(faultsOf(tamper(log(4))).faults).toEqual(expected);
  });

  test('is not misled by quotes in a field', () => {
    const rows = log(1);
    const [row] = rows;
    const forged = { ...row!, id: `${row!.id}","prev":"`, prev: '' };
    expect(faultsOf([forged]).faults).toEqual(['1 wrong_hash']);
  });
});

function change(rows: readonly EventRow[], seq: number, values: Partial<EventRow>): EventRow[] {
  return rows.map((row) => (row.seq === seq ? { ...row, ...values } : row));
}
