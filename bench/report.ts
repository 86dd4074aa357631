// A whole report over 2,000 Sessions with 400,000 events (fold, statistics, JSON) against a bare scan of the same rows, taken in turns in one run.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import type { EventDraft, EventType } from '../packages/proctor/src/domain/events.ts';
import { makeReport } from '../packages/proctor/src/domain/report.ts';
import { seededRandom } from '../packages/proctor/src/domain/statistics-random.ts';
import type { SessionSummary } from '../packages/proctor/src/domain/summary.ts';
import { REPORT_FORMATS } from '../packages/proctor/src/report-formats/index.ts';
import type { Store } from '../packages/proctor/src/store.ts';
import { openSqliteStore } from '../packages/proctor/src/stores/sqlite.ts';

const SESSIONS = 2000;
const EVENTS = 200;
const ROUNDS = 5;
const BOUND = 3;
const AT = '2026-01-01T00:00:00.000Z';

const home = mkdtempSync(path.join(process.env.PROCTOR_BENCH_DIR ?? tmpdir(), 'proctor-report-'));
const store = await openSqliteStore({ home });
try {
  for (let first = 0; first < SESSIONS; first += 50)
    await Promise.all(Array.from({ length: 50 }, (_, index) => write(store, first + index)));
  const file = readdirSync(home).find((name) => name.endsWith('.db')) ?? '';
  const times: { report: number[]; scan: number[] } = { report: [], scan: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.scan.push(scan(path.join(home, file)));
    times.report.push(await report(store));
  }
  const ratio = median(times.report) / median(times.scan);
  process.stdout.write(
    `report, ${SESSIONS} Sessions, ${SESSIONS * EVENTS} events: report ${median(times.report).toFixed(0)} ms, bare scan ${median(times.scan).toFixed(0)} ms, ratio ${ratio.toFixed(2)} (bound ≤ ${BOUND})\n`,
  );
  process.exitCode = ratio <= BOUND ? 0 : 1;
} finally {
  await store[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
}

async function report(from: Store): Promise<number> {
  const start = performance.now();
  const sessions: SessionSummary[] = [];
  for await (const batch of from.summaries({ experiment: 'bench' })) sessions.push(...batch);
  const made = makeReport(
    {
      title: 'bench',
      experiment: 'bench',
      generated_at: AT,
      sessions,
      refused: [],
      planned_trials: SESSIONS,
      accept_retries: false,
      interrupted: false,
    },
    { random: seededRandom(1) },
  );
  const text = REPORT_FORMATS.json.render(made, { color: false, columns: 80, timeZone: 'utc' });
  const milliseconds = performance.now() - start;
  if (made.sessions.length !== SESSIONS || text.length === 0)
    throw new Error(`expected ${SESSIONS} Sessions, found ${made.sessions.length}`);
  return milliseconds;
}

function scan(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const start = performance.now();
  let rows = 0;
  let characters = 0;
  for (const row of database.prepare('SELECT * FROM events ORDER BY place').iterate()) {
    rows += 1;
    characters += String(row.data).length;
  }
  const milliseconds = performance.now() - start;
  database.close();
  if (rows !== SESSIONS * EVENTS || characters === 0) throw new Error(`expected ${SESSIONS * EVENTS} rows, found ${rows}`);
  return milliseconds;
}

async function write(into: Store, number: number): Promise<void> {
  const task = `task-${number % 100}`;
  const lane = `lane-${Math.floor(number / 1000)}`;
  const repetition = Math.floor((number % 1000) / 100) + 1;
  const trial = `trial-${number}`;
  const writer = await into.createSession(
    { id: `sesn_${String(number).padStart(6, '0')}`, owner: 'bench', experiment: 'bench', trial, lane, taskName: task, createdAt: AT },
    drafts({ task, lane, repetition, trial, passes: (number * 7) % 10 < 6 }),
  );
  await writer.release();
}

function drafts(of: { task: string; lane: string; repetition: number; trial: string; passes: boolean }): EventDraft[] {
  const draft = <T extends EventType>(type: T, data: EventDraft<T>['data']): EventDraft =>
    ({ type, at: AT, author: 'engine', data }) as EventDraft;
  const outcome = { outcome_id: 'outc_1', iteration: 1 };
  const reward = of.passes ? 1 : 0;
  const frozen = { id: 'x_1', version: 1, name: of.lane, digest: 'd' };
  const head = [
    draft('session.created', {
      agent: { ...frozen, spec: { kind: 'command', settings: {}, files: [], environment_names: [] } },
      environment: { ...frozen, spec: {} as never },
      sandbox: {
        provider: 'docker',
        isolation: 'container',
        image: null,
        workdir: null,
        cpus: 1,
        memory_mb: 512,
        pids: null,
        network: 'public',
        not_enforced: [],
      },
      task: { name: of.task, digest: of.task, format: 'harbor', blob: 'b', tags: [] },
      experiment: { name: 'bench', lane: of.lane, repetition: of.repetition, attempt: 1, trial: of.trial },
      capture_roots: [],
    } as never),
    draft('outcome.defined', { ...outcome, definition: { description: 'x', grader: { argv: ['true'] }, max_iterations: 1 } }),
    draft('run.started', { iteration: 1, input: null, time_limit_ms: null }),
  ];
  const tail = [
    draft('run.completed', { exit: { kind: 'exited', code: 0 }, active_ms: 100, stdout: null, stderr: null }),
    draft('outcome.evaluation_completed', {
      ...outcome,
      ...{
        verdict: of.passes ? 'satisfied' : 'needs_revision',
        reward,
        rewards: { reward },
        pass_threshold: 1,
        reward_minimum: 0,
        firmness: 'clean',
        firmness_reason: null,
      },
      ...{ failure: null, failure_detail: null, attribution: null, feedback: '', duration_ms: 1, evidence: [] },
    } as never),
    draft('outcome.settled', {
      ...outcome,
      result: of.passes ? 'satisfied' : 'max_iterations_reached',
      reason: null,
      iterations: 1,
      reward,
      attribution: null,
    }),
  ];
  const body = Array.from({ length: EVENTS - head.length - tail.length }, (_, index) =>
    index % 5 === 0
      ? draft('agent.tool_use', { id: `t${index}`, name: index % 2 === 0 ? 'bash' : 'edit', input: { command: 'ls -la '.repeat(20) } })
      : draft('agent.output', { stream: 'stdout', text: 'a line of output that says something '.repeat(8) }),
  );
  return [...head, ...body, ...tail];
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
