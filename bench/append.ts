// Durable event append through the Store against a bare node:sqlite insert loop: same rows, batch size, pragmas and disk, taken in turns in one run.
// Once with each append awaited before the next, once with four on their way, as when several trials run. The best of each is compared: what else the
// machine does only ever adds.
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { seal } from '../packages/proctor/src/domain/event-chain.ts';
import type { EventDraft, EventRow } from '../packages/proctor/src/domain/events.ts';
import { FIRST } from '../packages/proctor/src/stores/migrations/001-first.ts';
import { openSqliteStore } from '../packages/proctor/src/stores/sqlite.ts';

const BATCHES = [1, 10, 100, 1000];
const ROUNDS = 15;
/** Events of one measurement: long enough to be measured, short enough to take turns often. */
const EVENTS: Readonly<Record<number, number>> = { 1: 200, 10: 1000, 100: 4000, 1000: 8000 };
const BOUND = 0.5;
const AT = '2026-01-01T00:00:00.000Z';

const home = mkdtempSync(path.join(process.env.PROCTOR_BENCH_DIR ?? tmpdir(), 'proctor-append-'));
const store = await openSqliteStore({ home: path.join(home, 'ours') });
const bare = openBare(path.join(home, 'bare.db'));
let missed = false;
try {
  for (const batch of BATCHES) {
    const events = EVENTS[batch] ?? 1000;
    const best = { awaited: Number.POSITIVE_INFINITY, inFlight: Number.POSITIVE_INFINITY, bare: Number.POSITIVE_INFINITY };
    for (let round = -1; round < ROUNDS; round += 1) {
      const seconds = {
        awaited: await ours(batch, events, { name: `awaited${round}`, inFlight: 1 }),
        inFlight: await ours(batch, events, { name: `inflight${round}`, inFlight: 4 }),
        bare: bare.insert(sealedRows(events), batch),
      };
      // The first round warms up.
      if (round < 0) continue;
      best.awaited = Math.min(best.awaited, seconds.awaited);
      best.inFlight = Math.min(best.inFlight, seconds.inFlight);
      best.bare = Math.min(best.bare, seconds.bare);
    }
    for (const [mode, seconds] of [
      ['each awaited', best.awaited],
      ['4 in flight', best.inFlight],
    ] as const) {
      const ratio = best.bare / seconds;
      missed ||= ratio < BOUND;
      process.stdout.write(
        `append, ${batch} per call, ${mode}: ${perSecond(events / seconds)}, bare ${perSecond(events / best.bare)}, ratio ${ratio.toFixed(2)} (bound ≥ ${BOUND})\n`,
      );
    }
  }
} finally {
  await store[Symbol.asyncDispose]();
  bare.close();
  rmSync(home, { recursive: true, force: true });
}
process.exitCode = missed ? 1 : 0;

/** Seconds until all are durable. */
async function ours(batch: number, events: number, { name, inFlight }: { name: string; inFlight: number }): Promise<number> {
  const session = { id: `sesn_${batch}_${name}`, owner: 'bench', experiment: null, trial: null, lane: null, taskName: null, createdAt: AT };
  const writer = await store.createSession(session, []);
  const batches: EventDraft[][] = [];
  for (let first = 0; first < events; first += batch) batches.push(drafts(first, batch));
  globalThis.gc?.();
  const start = performance.now();
  const onTheirWay: Promise<unknown>[] = [];
  for (const one of batches) {
    onTheirWay.push(writer.append(one));
    if (onTheirWay.length >= inFlight) await onTheirWay.shift();
  }
  await Promise.all(onTheirWay);
  const seconds = (performance.now() - start) / 1000;
  await writer.release();
  return seconds;
}

function openBare(file: string): { insert(rows: EventRow[], batch: number): number; close(): void } {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY');
  database.exec(FIRST);
  const statement = database.prepare(
    'INSERT INTO events (place, id, type, at, run_id, author, data_sha256, prev, hash, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  let place = 0;
  return {
    insert(rows, batch) {
      globalThis.gc?.();
      const start = performance.now();
      for (let first = 0; first < rows.length; first += batch) {
        database.exec('BEGIN IMMEDIATE');
        for (const row of rows.slice(first, first + batch)) {
          place += 1;
          statement.run(place, row.id, row.type, row.at, row.run_id, row.author, row.data_sha256, row.prev, row.hash, row.data);
        }
        database.exec('COMMIT');
      }
      return (performance.now() - start) / 1000;
    },
    close: () => database.close(),
  };
}

function sealedRows(count: number): EventRow[] {
  let prev = '';
  return drafts(0, count).map((draft, index) => {
    const row = seal(draft, { seq: index + 1, id: `evnt_${String(index).padStart(16, '0')}`, prev }, (content) =>
      hash('sha256', content, 'hex'),
    );
    prev = row.hash;
    return row;
  });
}

/** What an agent's Run writes: mostly short lines of output, tool calls and their results. */
function drafts(first: number, count: number): EventDraft[] {
  return Array.from({ length: count }, (_, offset): EventDraft => {
    const index = first + offset;
    const shared = { at: AT, author: 'local:1000', run_id: 'run_abcdefghijklmnop' };
    const line = `step ${index}: compiled src/module_${index % 97}.c, "0 warnings"\n`;
    switch (index % 5) {
      case 0:
        return {
          ...shared,
          type: 'agent.tool_use',
          data: { id: `call_${index}`, name: 'bash', input: { command: `make -C build target_${index}`, timeout: 120 } },
        };
      case 1:
        return { ...shared, type: 'agent.tool_result', data: { id: `call_${index}`, text: line.repeat(6), is_error: false } };
      case 2:
        return {
          ...shared,
          type: 'usage.recorded',
          data: { model: 'model-1', phase: 'agent', input_tokens: 1200 + index, output_tokens: 80, cost_nano_usd: 4_800_000 },
        };
      default:
        return { ...shared, type: 'agent.output', data: { stream: 'stdout', text: line } };
    }
  });
}

function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en-US')} events/s`;
}
