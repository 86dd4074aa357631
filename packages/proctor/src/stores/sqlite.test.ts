import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ChainCheck } from '../domain/event-chain.ts';
import type { EventDraft, EventRow } from '../domain/events.ts';
import type { NewSession, Store } from '../store.ts';
import { openSqliteStore } from './sqlite.ts';

const AT = '2026-01-01T00:00:00.000Z';
const APPENDER = path.resolve(import.meta.dirname, '../../../../fixtures/store/append-events.ts');

let folder: string;
let home: string;
const opened: Store[] = [];
const mounts: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'proctor-sqlite-'));
  home = path.join(folder, 'home');
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store[Symbol.asyncDispose]();
  for (const place of mounts.splice(0)) execFileSync('umount', ['-l', place]);
  rmSync(folder, { recursive: true });
});

async function open(place = home, reserveBytes = 65_536): Promise<Store> {
  const store = await openSqliteStore({ home: place, reserveBytes });
  opened.push(store);
  return store;
}

async function close(store: Store): Promise<void> {
  opened.splice(opened.indexOf(store), 1);
  await store[Symbol.asyncDispose]();
}

test('what was acknowledged survives kill -9 at any moment, chain and blobs with it', async () => {
  const store = await open();
  let killed = 0;
  for (let round = 0; round < 5; round += 1) {
    const four = Array.from({ length: 4 }, (_, index) => `sesn_${round}_${index}`);
    await Promise.all(
      four.map(async (id, index) => {
        const { acknowledged, blobs } = await appendUntilKilled(id, 10 + Math.random() * 60 * (index + 1));
        const log = await all(store, id);
        expect(log.length).toBeGreaterThanOrEqual(acknowledged);
        expect(faults(log)).toEqual([]);
        for (const digest of blobs) {
          const content = Buffer.concat(await collect((await store.blob(digest))!));
          expect(sha256(content)).toBe(digest);
        }
        const writer = await store.claimSession(id, 'rescuer');
        const [next] = await writer.append([{ type: 'session.closed', at: AT, author: 'local:0', data: { reason: 'owner_gone' } }]);
        expect(next!.seq).toBe(log.length + 1);
        if (acknowledged > 1) killed += 1;
      }),
    );
  }
  expect(killed).toBeGreaterThan(10);
}, 240_000);

test('processes that write to one store at once do not stop each other', async () => {
  const store = await open();
  const children = Array.from({ length: 3 }, (_, index) => start([APPENDER, home, `sesn_${index}`, '150'], 'ignore'));
  const ended = Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
  const writer = await store.createSession(session('sesn_own'), []);
  let longestPauseMs = 0;
  let last = performance.now();
  const clock = setInterval(() => {
    longestPauseMs = Math.max(longestPauseMs, performance.now() - last);
    last = performance.now();
  }, 5);
  for (let index = 0; index < 150; index += 1) await writer.append([message(`${index}`)]);
  expect(await ended).toEqual([0, 0, 0]);
  clearInterval(clock);
  expect(longestPauseMs).toBeLessThan(1000);
  for (const id of ['sesn_0', 'sesn_1', 'sesn_2', 'sesn_own']) expect(faults(await all(store, id))).toEqual([]);
  expect((await all(store, 'sesn_2')).length).toBe(151);
});

test('a lock that another process holds longer than SQLite waits is waited for, while reads and timers go on', async () => {
  const store = await open();
  const writer = await store.createSession(session('sesn_a'), [message('1')]);
  const other = new DatabaseSync(path.join(home, 'store.db'));
  other.exec('BEGIN IMMEDIATE');
  const append = writer.append([message('2')]);
  let settled = false;
  void append.then(() => {
    settled = true;
  });
  const start = performance.now();
  while (performance.now() - start < 400) {
    const before = performance.now();
    expect(await all(store, 'sesn_a')).toHaveLength(1);
    expect(performance.now() - before).toBeLessThan(300);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(settled).toBe(false);
  other.exec('COMMIT');
  other.close();
  expect(await append).toHaveLength(1);
});

test('a new record made by two processes at once is one record', async () => {
  const [one, two] = [await open(), await open()];
  const put = (store: Store, digest: string) =>
    store.putRecord({ noun: 'agent', idPrefix: 'agent', name: 'a', digest, body: {}, createdAt: AT });
  const records = await Promise.all(
    Array.from({ length: 20 }, (_, index) => put(index % 2 === 0 ? one : two, `d${Math.floor(index / 4)}`)),
  );
  expect(new Set(records.map((record) => record.id)).size).toBe(1);
  expect((await one.records('agent')).map((record) => record.version)).toEqual([1, 2, 3, 4, 5]);
});

test('two processes that make the store at once make one', async () => {
  const stores = await Promise.all([open(), open(), open()]);
  expect(new Set(stores.map((store) => store.id)).size).toBe(1);
  expect(statSync(home).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(home, 'store.db')).mode & 0o777).toBe(0o600);
});

test('an open store keeps no program from ending, and prints no warning', async () => {
  const program = `
    const { openSqliteStore } = await import(${JSON.stringify(path.resolve(import.meta.dirname, 'sqlite.ts'))});
    const store = await openSqliteStore({ home: ${JSON.stringify(home)} });
    process.stdout.write(String((await store.sessions({})).length));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors] = [collect(child.stdout), collect(child.stderr)];
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect([String(await output), String(await errors)]).toEqual(['0', '']);
});

test('a store of a newer program is refused in a sentence that names both formats', async () => {
  await close(await open());
  alter('PRAGMA user_version = 99');
  await expect(open()).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/newer proctor \(its format is 99, this one knows \d+\)/),
  });
});

test('a database of another program is left alone', async () => {
  mkdirSync(home);
  alter('CREATE TABLE theirs (x)');
  await expect(open()).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining('another program') });
});

test.each([
  ['overwritten', (file: string) => writeFileSync(file, 'not a database at all, but long enough to be looked at as one'.repeat(100))],
  ['damaged inside', (file: string) => damage(file)],
])('a database that is %s is told with its path and the next step', async (_how, spoil) => {
  const store = await open();
  await store.createSession(
    session('sesn_a'),
    Array.from({ length: 500 }, (_, index) => message(`${index}`)),
  );
  await close(store);
  spoil(path.join(home, 'store.db'));
  const reading = open().then((spoilt) => all(spoilt, 'sesn_a'));
  await expect(reading).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining(`${home}/store.db`) });
  await expect(reading).rejects.toThrow(/\.recover/);
});

test('a store that may only be read is read, and a write says what to do', async (context) => {
  const store = await open();
  const written = await store.createSession(session('sesn_a'), [message('1')]);
  const { sha256: blob } = await store.putBlob(Buffer.alloc(50_000, 1));
  await written.release();
  await close(store);
  mount(context, ['--bind', home, home]);
  execFileSync('mount', ['-o', 'remount,bind,ro', home]);
  const reader = await open();
  expect(reader.readOnly).toBe(true);
  expect(reader.id).toBe(store.id);
  expect(await all(reader, 'sesn_a')).toHaveLength(1);
  expect(await reader.blob(blob)).not.toBeNull();
  for (const write of [
    () => reader.createSession(session('sesn_b'), []),
    () => reader.putBlob(Buffer.alloc(1)),
    () => reader.putBlob(Buffer.alloc(50_001)),
    () => reader.deleteSessions({}),
  ]) {
    await expect(write()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(new RegExp(`${home}.*PROCTOR_HOME`)),
    });
  }
});

test('a store that may only be read and has writes in its journal is not read as if they were not there', async (context) => {
  const store = await open();
  await store.createSession(session('sesn_a'), [message('1')]);
  const copy = path.join(folder, 'copy');
  mkdirSync(copy);
  for (const name of ['store.db', 'store.db-wal']) execFileSync('cp', [path.join(home, name), copy]);
  mount(context, ['--bind', copy, copy]);
  execFileSync('mount', ['-o', 'remount,bind,ro', copy]);
  await expect(open(copy)).rejects.toMatchObject({ code: 'store_unavailable', message: expect.stringContaining('store.db-wal') });
});

test('a folder that cannot be written and has no store says so', async (context) => {
  mkdirSync(home);
  mount(context, ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', home]);
  await expect(open()).rejects.toMatchObject({ code: 'store_unavailable', message: expect.stringContaining('PROCTOR_HOME') });
});

test('a full disk refuses work but takes the record of the failure, and more once there is room', async (context) => {
  mkdirSync(home);
  mount(context, ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', home]);
  const store = await open(home, 2 * 1_048_576);
  const writer = await store.createSession(session('sesn_a'), [message('1')]);
  while (!readdirSync(home).includes('reserve')) await new Promise((resolve) => setTimeout(resolve, 10));
  let events = 1;
  const fill = async (): Promise<void> => {
    for (; events < 1000; events += 1) await writer.append([message('x'.repeat(100_000))]);
  };
  await expect(fill()).rejects.toMatchObject({ code: 'store_full', message: expect.stringContaining(home) });
  expect(readdirSync(home)).not.toContain('reserve');
  const failed: EventDraft = {
    type: 'run.failed',
    at: AT,
    author: 'local:0',
    data: { reason: 'infrastructure', detail: 'disk full', exit: null, active_ms: 1, stdout: null, stderr: null },
  };
  expect(await writer.append([failed])).toMatchObject([{ seq: events + 1 }]);
  await expect(writer.append([message('more work')])).rejects.toMatchObject({ code: 'store_full' });
  await expect(store.putBlob(Buffer.alloc(10_000, 1))).rejects.toMatchObject({ code: 'store_full' });
  await expect(store.putBlob(Buffer.alloc(9_000_000, 1))).rejects.toMatchObject({ code: 'store_full' });
  expect(faults(await all(store, 'sesn_a'))).toEqual([]);
  execFileSync('mount', ['-o', 'remount,size=40m', home]);
  expect(await writer.append([message('x'.repeat(100_000))])).toMatchObject([{ seq: events + 2 }]);
  expect(readdirSync(home)).toContain('reserve');
});

test('the size of a store is what it takes on disk', async () => {
  const store = await open();
  await store.putBlob(Buffer.alloc(40_000, 1));
  await store.putBlob(Buffer.alloc(40, 1));
  const size = await store.size();
  expect(size).toMatchObject({ blobBytes: 40_000, sessions: 0 });
  expect(size.databaseBytes).toBeGreaterThan(4096);
});

test('what is deleted is given back to the disk', async () => {
  const store = await open();
  await store.createSession(session('sesn_a'), [message('x'.repeat(8_000_000))]);
  await store.deleteSessions({});
  await close(store);
  expect(statSync(path.join(home, 'store.db')).size).toBeLessThan(1_000_000);
});

test('a log that was changed behind our back is told', async () => {
  const store = await open();
  await store.createSession(session('sesn_a'), [message('1'), message('2'), message('3')]);
  await close(store);
  alter(`UPDATE events SET data = '{"text":"forged"}' WHERE data LIKE '%2%'`);
  expect(faults(await all(await open(), 'sesn_a'))).toMatchObject([{ seq: 2, kind: 'wrong_data' }]);
});

/** With a cache of compiled code: most of what these programs do is start. */
function start(args: string[], output: 'ignore' | 'pipe'): ChildProcess {
  const env = { ...process.env, NODE_COMPILE_CACHE: path.join(tmpdir(), 'proctor-compiled') };
  return spawn(process.execPath, args, { stdio: ['ignore', output, 'inherit'], env });
}

/** Runs the appender, kills it that long after its first acknowledgement, and tells what it was told. */
async function appendUntilKilled(id: string, afterMs: number): Promise<{ acknowledged: number; blobs: string[] }> {
  const child: ChildProcess = start([APPENDER, home, id], 'pipe');
  let output = '';
  child.stdout!.on('data', (piece) => {
    if (output === '') setTimeout(() => child.kill('SIGKILL'), afterMs);
    output += piece;
  });
  await once(child, 'close');
  const lines = output.split('\n').slice(0, -1);
  return { acknowledged: Number.parseInt(lines.at(-1) ?? '0', 10), blobs: lines.flatMap((line) => line.split(' ')[1] || []) };
}

function mount(context: { skip: (reason: string) => void }, args: string[]): void {
  try {
    execFileSync('mount', args, { stdio: 'pipe' });
    mounts.push(args.at(-1)!);
  } catch (error) {
    context.skip(`needs to mount a file system: ${String(error)}`);
  }
}

function alter(sql: string): void {
  const database = new DatabaseSync(path.join(home, 'store.db'));
  database.exec(sql);
  database.close();
}

function damage(file: string): void {
  const handle = openSync(file, 'r+');
  for (let page = 3; page * 4096 < statSync(file).size; page += 1) writeSync(handle, Buffer.alloc(4000, 0xa5), 0, 4000, page * 4096);
  ftruncateSync(handle, statSync(file).size);
  closeSync(handle);
}

function session(id: string): NewSession {
  return { id, owner: 'owner', experiment: null, trial: null, lane: null, taskName: null, createdAt: AT };
}

function message(text: string): EventDraft {
  return { type: 'agent.message', at: AT, author: 'local:0', data: { text } };
}

async function all(store: Store, id: string): Promise<EventRow[]> {
  return (await collect(store.events(id))).flat();
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

function faults(log: readonly EventRow[]): unknown[] {
  const check = new ChainCheck(sha256);
  for (const row of log) check.next(row);
  return check.faults;
}
