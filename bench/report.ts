// A whole report over 2,000 Sessions with 400,000 events (fold, statistics, JSON) against a bare scan of the same rows, taken in turns in one run:
// cold, with the file out of the page cache and a store just opened, and warm. The memory is that of a process that makes one report.
import { execFileSync } from 'node:child_process';
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
const ROUNDS = 3;
const BOUND = 3;
const MEMORY_BOUND_MIB = 300;
const AT = '2026-01-01T00:00:00.000Z';

const [task, filled] = process.argv.slice(2);
if (task === 'fill' && filled !== undefined) await fill(filled);
else await measure();

async function measure(): Promise<void> {
  const home = mkdtempSync(path.join(process.env.PROCTOR_BENCH_DIR ?? tmpdir(), 'proctor-report-'));
  try {
    // In a process of its own, so that the memory measured here is that of the report.
    execFileSync(process.execPath, [import.meta.filename, 'fill', home], { stdio: 'inherit' });
    const file = path.join(home, readdirSync(home).find((name) => name.endsWith('.db')) ?? '');
    const times = { cold: { report: [] as number[], scan: [] as number[] }, warm: { report: [] as number[], scan: [] as number[] } };
    let memoryMib = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      {
        dropFromPageCache(file);
        await using store = await openSqliteStore({ home });
        times.cold.report.push(await report(store));
        if (round === 0) memoryMib = process.resourceUsage().maxRSS / 1024;
        times.warm.report.push(await report(store));
      }
      dropFromPageCache(file);
      times.cold.scan.push(scan(file));
      times.warm.scan.push(scan(file));
    }
    for (const [kind, { report, scan }] of Object.entries(times)) {
      const ratio = median(report) / median(scan);
      process.stdout.write(
        `report, ${SESSIONS} Sessions, ${SESSIONS * EVENTS} events, ${kind}: report ${median(report).toFixed(0)} ms, bare scan ${median(scan).toFixed(0)} ms, ratio ${ratio.toFixed(2)} (bound ≤ ${BOUND})\n`,
      );
      if (!(ratio <= BOUND)) process.exitCode = 1;
    }
    process.stdout.write(`report, memory: ${memoryMib.toFixed(0)} MiB at most (bound ≤ ${MEMORY_BOUND_MIB})\n`);
    if (memoryMib > MEMORY_BOUND_MIB) process.exitCode = 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function fill(home: string): Promise<void> {
  await using store = await openSqliteStore({ home });
  for (let first = 0; first < SESSIONS; first += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => write(store, first + index)));
  }
}

/** GNU dd advises the kernel to forget the file; where there is another dd, cold is a store just opened. */
function dropFromPageCache(file: string): void {
  try {
    execFileSync('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'], { stdio: 'ignore' });
  } catch {
    process.stdout.write('the page cache could not be dropped\n');
  }
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
  const body = Array.from({ length: EVENTS - head.length - tail.length }, (_, index) => {
    switch (index % 5) {
      case 0:
        return draft('agent.tool_use', {
          id: `t${index}`,
          name: index % 2 === 0 ? 'bash' : 'edit',
          input: { command: 'ls -la '.repeat(20) },
        });
      case 1:
        return draft('agent.tool_result', { id: `t${index}`, text: 'a line of a result '.repeat(30), is_error: false });
      case 2:
        return draft('usage.recorded', {
          model: 'model-1',
          phase: 'agent',
          input_tokens: 1200,
          output_tokens: 80,
          cost_nano_usd: 4_800_000,
        });
      default:
        return draft('agent.output', { stream: 'stdout', text: 'a line of output that says something '.repeat(8) });
    }
  });
  return [...head, ...body, ...tail];
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
