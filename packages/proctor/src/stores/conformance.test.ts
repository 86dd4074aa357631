import { createHash, hash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AppError } from '../domain/errors.ts';
import { ChainCheck } from '../domain/event-chain.ts';
import type { EventDraft, EventRow } from '../domain/events.ts';
import { type SessionSummary, SummaryFold } from '../domain/summary.ts';
import type { NewSession, Store } from '../store.ts';
import { STORES } from './index.ts';

const AT = '2026-01-01T00:00:00.000Z';
const sha256 = (content: string | Uint8Array): string => hash('sha256', content, 'hex');

describe.each(Object.entries(STORES))('%s', (_name, openStore) => {
  let home: string;
  let store: Store;
  const living = new Set<string>();
  const open = (): Promise<Store> => openStore({ home, ownerIsAlive: (owner) => living.has(owner), reserveBytes: 65_536 });
  beforeAll(async () => {
    home = mkdtempSync(path.join(tmpdir(), 'proctor-store-'));
    store = await open();
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    rmSync(home, { recursive: true });
  });
  // One store for all, emptied: opening one costs more than most of these tests.
  beforeEach(async () => {
    living.clear();
    await store.deleteSessions({});
    for (const noun of ['agent', 'dataset']) for (const { id } of await store.records(noun)) await store.deleteRecord(noun, id);
    await store.collectBlobs({ olderThanMs: 0, maxBytes: null, dryRun: false });
  });

  test('a Session begins with its first events, in order and chained', async () => {
    const writer = await store.createSession(session('sesn_a'), [status('running'), message('one')]);
    expect(writer.lastSeq).toBe(2);
    const rows = await writer.append([message('two'), message('three')]);
    expect(rows.map((row) => row.seq)).toEqual([3, 4]);
    const log = await all(store, 'sesn_a');
    expect(log.slice(2)).toEqual(rows);
    expect(faults(log)).toEqual([]);
    expect(new Set(log.map((row) => row.id)).size).toBe(4);
    expect(await store.session('sesn_a')).toEqual({ ...session('sesn_a'), status: 'running', lastSeq: 4, lastAt: AT });
  });

  test('a Session id is taken once', async () => {
    await store.createSession(session('sesn_a'), []);
    await expect(store.createSession(session('sesn_a'), [])).rejects.toMatchObject({ code: 'conflict' });
    expect(await all(store, 'sesn_a')).toEqual([]);
  });

  test('a Session without events was last touched when it was made', async () => {
    await store.createSession(session('sesn_a'), []);
    expect(await store.session('sesn_a')).toMatchObject({ status: 'pending', lastSeq: 0, lastAt: AT });
    expect(await store.session('sesn_b')).toBeNull();
  });

  test('data is kept as it is hashed: with defaults, well-formed, in canonical order', async () => {
    const writer = await store.createSession(session('sesn_a'), []);
    const [defined] = await writer.append([
      draft({ type: 'outcome.defined', data: { outcome_id: 'outc_1', definition: { description: 'broken \ud800 text', rubric: 'r' } } }),
    ]);
    expect(JSON.parse(defined!.data!).definition).toEqual({
      deliverables: [],
      description: 'broken \ufffd text',
      feedback: 'summary',
      max_iterations: 3,
      rubric: 'r',
    });
    expect(defined!.data_sha256).toBe(sha256(defined!.data!));
    expect(await all(store, 'sesn_a')).toEqual([defined]);
  });

  test.each([
    ['data that does not fit its type', draft({ type: 'agent.message', data: { text: 3 } as never })],
    ['a key that its type does not have', draft({ type: 'agent.message', data: { text: '', more: 1 } as never })],
    ['a number that JSON has not', draft({ type: 'agent.tool_use', data: { id: '', name: '', input: { deep: [Number.NaN] } } })],
    ['a value that JSON has not', draft({ type: 'agent.tool_use', data: { id: '', name: '', input: { when: new Date(0) } as never } })],
    ['a type that there is not', draft({ type: 'agent.dance', data: {} } as never)],
    ['a local time', { ...message('x'), at: '2026-01-01T00:00:00.000+01:00' }],
  ])('%s is refused whole, and the log goes on after it', async (_what, wrong) => {
    const writer = await store.createSession(session('sesn_a'), []);
    await expect(writer.append([message('never written'), wrong])).rejects.toBeInstanceOf(AppError);
    await writer.append([message('first')]);
    expect((await all(store, 'sesn_a')).map((row) => row.seq)).toEqual([1]);
  });

  test('appends that are not waited for keep their order', async () => {
    const writer = await store.createSession(session('sesn_a'), []);
    const answers = await Promise.all(Array.from({ length: 300 }, (_, index) => writer.append([message(`${index}`)])));
    expect(answers.map(([row]) => row!.seq)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    const log = await all(store, 'sesn_a');
    expect(log.map((row) => JSON.parse(row.data!).text)).toEqual(Array.from({ length: 300 }, (_, index) => `${index}`));
    expect(faults(log)).toEqual([]);
  });

  test('many Sessions write at once', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `sesn_${index}`);
    await Promise.all(
      ids.map(async (id) => {
        const writer = await store.createSession(session(id), [message('first')]);
        for (let index = 0; index < 20; index += 1) await writer.append([message(`${id} ${index}`), message('and')]);
      }),
    );
    for (const id of ids) {
      const log = await all(store, id);
      expect(log).toHaveLength(41);
      expect(faults(log)).toEqual([]);
    }
  });

  test('of a large append with a wrong draft nothing is written, and what comes after it is', async () => {
    const writer = await store.createSession(session('sesn_a'), []);
    const other = await store.createSession(session('sesn_b'), []);
    for (const wrong of [0, 40, 199]) {
      const drafts = [...many(200), status('running')];
      drafts[wrong] = { ...message('x'), data: { content: 'no list' } } as unknown as EventDraft;
      const large = writer.append(drafts);
      const appends = [writer.append([message(`after ${wrong}`)]), other.append(many(100)), writer.append(many(100))];
      await expect(large).rejects.toMatchObject({ code: 'internal' });
      await Promise.all(appends);
    }
    for (const [id, events] of Object.entries({ sesn_a: 303, sesn_b: 300 })) {
      const log = await all(store, id);
      expect([log.length, faults(log)]).toEqual([events, []]);
      expect(await store.session(id)).toMatchObject({ status: 'pending', lastSeq: events });
    }
  });

  test('large appends of many Sessions at once are each whole, beside one that is refused', async () => {
    const writers = await Promise.all(Array.from({ length: 6 }, (_, index) => store.createSession(session(`sesn_${index}`), [])));
    await store.deleteSessions({ ids: ['sesn_2'] });
    const appended = await Promise.allSettled(writers.map((writer) => writer.append([...many(150), status('running'), ...many(150)])));
    expect(appended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    for (const { sessionId } of writers.filter(({ sessionId }) => sessionId !== 'sesn_2')) {
      const log = await all(store, sessionId);
      expect([log.length, faults(log)]).toEqual([301, []]);
      expect(await store.session(sessionId)).toMatchObject({ status: 'running', lastSeq: 301 });
    }
  });

  test('status follows the events', async () => {
    const writer = await store.createSession(session('sesn_a'), []);
    await writer.append([status('running'), message('x')]);
    expect((await store.session('sesn_a'))!.status).toBe('running');
    await writer.append([status('idle')]);
    await writer.append([message('no change')]);
    expect((await store.session('sesn_a'))!.status).toBe('idle');
    await writer.append([draft({ type: 'session.closed', data: { reason: 'client' } })]);
    expect((await store.session('sesn_a'))!.status).toBe('closed');
  });

  test('a Session has one writer: whoever claimed it last, from an owner that is gone', async () => {
    const old = await store.createSession(session('sesn_a', { owner: 'first' }), [message('a')]);
    living.add('first');
    await expect(store.claimSession('sesn_a', 'second')).rejects.toMatchObject({ code: 'conflict' });
    await expect(store.claimSession('sesn_none', 'second')).rejects.toMatchObject({ code: 'not_found' });
    living.delete('first');
    const claimed = await store.claimSession('sesn_a', 'second');
    await expect(old.append([message('stale')])).rejects.toMatchObject({ code: 'stale_writer' });
    await expect(old.append([message('still')])).rejects.toMatchObject({ code: 'stale_writer' });
    await old.release();
    expect(await claimed.append([message('b')])).toMatchObject([{ seq: 2 }]);
    expect((await store.session('sesn_a'))!.owner).toBe('second');
    expect(faults(await all(store, 'sesn_a'))).toEqual([]);
  });

  test('of two that claim at once one gets the Session', async () => {
    await (await store.createSession(session('sesn_a'), [])).release();
    const other = await open();
    const claims = await Promise.allSettled([store.claimSession('sesn_a', 'one'), other.claimSession('sesn_a', 'two')]);
    const won = claims.filter((claim) => claim.status === 'fulfilled');
    const lost = claims.filter((claim) => claim.status === 'rejected');
    expect(won.length).toBeGreaterThan(0);
    for (const { reason } of lost) expect(reason).toMatchObject({ code: 'conflict' });
    const appends = await Promise.allSettled(won.map((claim) => claim.value.append([message('mine')])));
    expect(appends.filter((append) => append.status === 'fulfilled')).toHaveLength(1);
    await other[Symbol.asyncDispose]();
  });

  test('a released Session has no owner and no writer', async () => {
    const writer = await store.createSession(session('sesn_a'), []);
    const last = writer.append([message('on its way')]);
    await writer.release();
    expect(await last).toHaveLength(1);
    expect(await store.session('sesn_a')).toMatchObject({ owner: null, lastSeq: 1 });
    await expect(writer.append([message('late')])).rejects.toMatchObject({ code: 'stale_writer' });
    await writer.release();
  });

  test('the writer of a deleted Session cannot write into another', async () => {
    const writer = await store.createSession(session('sesn_a'), []);
    expect(await store.deleteSessions({ ids: ['sesn_a'] })).toEqual({ sessions: 1, events: 0 });
    await store.createSession(session('sesn_b'), []);
    await expect(writer.append([message('x')])).rejects.toMatchObject({ code: 'stale_writer' });
    expect(await all(store, 'sesn_b')).toEqual([]);
  });

  test('events are read from a place, of some types, up to a number', async () => {
    const writer = await store.createSession(session('sesn_a'), []);
    await writer.append(Array.from({ length: 1200 }, (_, index) => (index % 2 === 0 ? message(`${index}`) : status('running'))));
    expect((await all(store, 'sesn_a', { after: 1195 })).map((row) => row.seq)).toEqual([1196, 1197, 1198, 1199, 1200]);
    expect((await all(store, 'sesn_a', { types: ['session.status'] })).map((row) => row.seq)).toEqual(
      Array.from({ length: 600 }, (_, index) => 2 * index + 2),
    );
    expect(await all(store, 'sesn_a', { types: [] })).toEqual([]);
    expect((await all(store, 'sesn_a', { after: 3, limit: 2 })).map((row) => row.seq)).toEqual([4, 5]);
    expect((await all(store, 'sesn_a', { limit: 1100 })).at(-1)!.seq).toBe(1100);
    expect(await all(store, 'sesn_none')).toEqual([]);
  });

  test('large events are read in batches that fit in memory', async () => {
    const writer = await store.createSession(session('sesn_a'), []);
    for (let index = 0; index < 6; index += 1) await writer.append([message('x'.repeat(600_000))]);
    const sizes: number[] = [];
    for await (const batch of store.events('sesn_a')) sizes.push(batch.length);
    expect(sizes).toEqual([2, 2, 2]);
  });

  test('following gives history and then what comes, from this store and another, until the Session is closed', async () => {
    const writer = await store.createSession(session('sesn_a'), [message('1'), message('2'), message('3')]);
    const other = await open();
    const here = collect(store.follow('sesn_a', { after: 1, signal: AbortSignal.timeout(50_000) }));
    const there = collect(other.follow('sesn_a', { after: 0, signal: AbortSignal.timeout(50_000) }));
    for (let index = 4; index < 60; index += 1) {
      await writer.append([message(`${index}`)]);
      if (index % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 120));
    }
    await writer.append([draft({ type: 'session.closed', data: { reason: 'client' } })]);
    expect((await here).map((row) => row.seq)).toEqual(Array.from({ length: 59 }, (_, index) => index + 2));
    expect((await there).map((row) => row.seq)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    await other[Symbol.asyncDispose]();
  });

  test('following ends when its signal fires or the Session is deleted', async () => {
    await store.createSession(session('sesn_a'), [message('1')]);
    const controller = new AbortController();
    const aborted = store.follow('sesn_a', { after: 0, signal: controller.signal })[Symbol.asyncIterator]();
    const deleted = store.follow('sesn_a', { after: 0, signal: AbortSignal.timeout(50_000) })[Symbol.asyncIterator]();
    for (const following of [aborted, deleted]) expect((await following.next()).value).toMatchObject({ seq: 1 });
    const ends = [aborted.next(), deleted.next()];
    controller.abort();
    expect(await ends[0]).toEqual({ value: undefined, done: true });
    await store.deleteSessions({});
    expect(await ends[1]).toEqual({ value: undefined, done: true });
    expect(await collect(store.follow('sesn_a', { after: 0, signal: AbortSignal.abort() }))).toEqual([]);
  });

  test('Sessions are listed newest first, by what the filter says', async () => {
    await store.createSession(session('sesn_1', { experiment: 'e', trial: 't1' }), []);
    const two = await store.createSession(session('sesn_2', { experiment: 'e', trial: 't2', createdAt: '2026-01-02T00:00:00.000Z' }), []);
    const three = await store.createSession(session('sesn_3', { experiment: 'f', createdAt: '2026-01-03T00:00:00.000Z' }), []);
    await two.append([draft({ type: 'session.closed', data: { reason: 'client' } })]);
    await three.release();
    const ids = async (filter: Parameters<Store['sessions']>[0]) => (await store.sessions(filter)).map((row) => row.id);
    expect(await ids({})).toEqual(['sesn_3', 'sesn_2', 'sesn_1']);
    expect(await ids({ limit: 2 })).toEqual(['sesn_3', 'sesn_2']);
    expect(await ids({ experiment: 'e' })).toEqual(['sesn_2', 'sesn_1']);
    expect(await ids({ trial: 't1' })).toEqual(['sesn_1']);
    expect(await ids({ ids: ['sesn_1', 'sesn_3', 'sesn_9'] })).toEqual(['sesn_3', 'sesn_1']);
    expect(await ids({ before: '2026-01-02T00:00:00.000Z' })).toEqual(['sesn_1']);
    expect(await ids({ open: true })).toEqual(['sesn_1']);
  });

  test('deleting takes what the filter says, with its events, and no more', async () => {
    for (let index = 0; index < 45; index += 1)
      await store.createSession(session(`sesn_${index}`, { experiment: `e${index % 3}` }), [message('x'), message('y')]);
    expect(await store.deleteSessions({ experiment: 'e0' })).toEqual({ sessions: 15, events: 30 });
    expect(await store.deleteSessions({ limit: 25 })).toEqual({ sessions: 25, events: 50 });
    expect(await store.size()).toMatchObject({ sessions: 5 });
    expect(faults(await all(store, 'sesn_1'))).toEqual([]);
  });

  test('a summary is the fold of a log, Sessions oldest first', async () => {
    const output = { sha256: 'a'.repeat(64), bytes: 1, total_bytes: 1, cut: false };
    for (const id of ['sesn_1', 'sesn_2', 'sesn_3']) {
      await store.createSession(session(id, { experiment: id === 'sesn_3' ? 'other' : 'mine' }), [
        draft({ type: 'user.message', data: { content: [{ type: 'text', text: 'do it' }] } }),
        draft({ type: 'outcome.defined', data: { outcome_id: 'outc_1', definition: { description: 'd', rubric: 'r' } } }),
        draft({ type: 'run.started', data: { iteration: 1, input: null, time_limit_ms: null } }),
        message('x'.repeat(100_000)),
        draft({ type: 'agent.tool_use', data: { id: '1', name: 'bash', input: { name: 'not this' } } }),
        draft({ type: 'agent.tool_result', data: { id: '1', text: 'y', is_error: false } }),
        draft({ type: 'agent.output', data: { stream: 'stdout', text: 'z' } }),
        draft({ type: 'usage.recorded', data: { model: 'm', phase: 'agent', input_tokens: 5, output_tokens: 2, cost_nano_usd: 7 } }),
        draft({ type: 'warning', data: { code: 'tools_changed', message: id } }),
        draft({ type: 'run.completed', data: { exit: { kind: 'exited', code: 0 }, active_ms: 3, stdout: output, stderr: null } }),
      ]);
    }
    const folded = async (id: string): Promise<SessionSummary> => {
      const fold = new SummaryFold(id);
      for (const row of await all(store, id)) fold.next(row);
      return fold.summary();
    };
    const summaries = (await collect(store.summaries({}))).flat();
    expect(summaries).toEqual([await folded('sesn_1'), await folded('sesn_2'), await folded('sesn_3')]);
    expect(summaries[0]).toMatchObject({ session_id: 'sesn_1', events_examined: 10, tool_calls: 1, tokens: { input: 5, output: 2 } });
    expect((await collect(store.summaries({ experiment: 'mine', limit: 1 }))).flat().map((one) => one.session_id)).toEqual(['sesn_2']);
  });

  test('a record is found by its digest, or is the next version of its name', async () => {
    const record = { noun: 'agent', idPrefix: 'agent', name: 'mine', digest: 'd1', body: { b: [1], a: 'x' }, createdAt: AT };
    const first = await store.putRecord(record);
    expect(first).toEqual({
      noun: 'agent',
      id: expect.stringMatching(/^agent_[a-z2-7]{16}$/),
      name: 'mine',
      version: 1,
      digest: 'd1',
      body: { b: [1], a: 'x' },
      createdAt: AT,
    });
    expect(await store.putRecord({ ...record, createdAt: '2026-02-02T00:00:00.000Z' })).toEqual(first);
    const second = await store.putRecord({ ...record, digest: 'd2', body: null });
    expect(second).toMatchObject({ id: first.id, version: 2, body: null });
    const other = await store.putRecord({ ...record, name: 'another', body: 'text' });
    expect(other.id).not.toBe(first.id);
    expect(await store.record('agent', 'mine')).toEqual(second);
    expect(await store.record('agent', first.id)).toEqual(second);
    expect(await store.record('agent', first.id, 1)).toEqual(first);
    expect(await store.record('agent', 'mine', 3)).toBeNull();
    expect(await store.record('environment', 'mine')).toBeNull();
    expect(await store.records('agent')).toEqual([other, first, second]);
    await store.deleteRecord('agent', first.id);
    expect(await store.records('agent')).toEqual([other]);
  });

  test.each([0, 5, 32_768, 32_769, 3_000_000])('a blob of %i bytes comes back, whole or in pieces', async (bytes) => {
    const content = randomBytes(bytes);
    const digest = createHash('sha256').update(content).digest('hex');
    expect(await store.putBlob(content)).toEqual({ sha256: digest, bytes });
    expect(await store.putBlob(pieces(content, 7001))).toEqual({ sha256: digest, bytes });
    expect(Buffer.concat(await collect((await store.blob(digest))!)).equals(content)).toBe(true);
    expect(await store.blob('0'.repeat(64))).toBeNull();
    expect(await store.blob('../store.db')).toBeNull();
  });

  test('a blob whose source fails is not kept', async () => {
    async function* failing() {
      yield randomBytes(100_000);
      throw new Error('the source broke');
    }
    await expect(store.putBlob(failing())).rejects.toThrow('the source broke');
    expect(await store.collectBlobs({ olderThanMs: 0, maxBytes: null, dryRun: true })).toEqual({ blobs: 0, bytes: 0 });
  });

  test('two stores put the same large blob at once', async () => {
    const other = await open();
    const content = randomBytes(200_000);
    const put = await Promise.all([
      store.putBlob(content),
      other.putBlob(content),
      store.putBlob(pieces(content, 999)),
      other.putBlob(content),
    ]);
    expect(new Set(put.map((one) => one.sha256)).size).toBe(1);
    expect(Buffer.concat(await collect((await other.blob(put[0]!.sha256))!)).equals(content)).toBe(true);
    await other[Symbol.asyncDispose]();
  });

  test('blobs that a Session or a record names stay; others go by age and size', async () => {
    const named = [await store.putBlob(randomBytes(10)), await store.putBlob(randomBytes(100_000))];
    const recorded = await store.putBlob(randomBytes(20));
    const loose = [await store.putBlob(randomBytes(30)), await store.putBlob(randomBytes(100_001))];
    await store.putRecord({ noun: 'dataset', idPrefix: 'ds', name: 'd', digest: 'd', body: { task: recorded.sha256 }, createdAt: AT });
    const writer = await store.createSession(session('sesn_a'), [
      draft({ type: 'run.started', data: { iteration: 1, input: named[0]!, time_limit_ms: null } }),
      draft({
        type: 'run.completed',
        data: { exit: null, active_ms: 1, stdout: { ...named[1]!, total_bytes: 100_000, cut: false }, stderr: null },
      }),
    ]);
    await writer.release();
    const everything = { olderThanMs: 0, maxBytes: null };
    expect(await store.collectBlobs({ olderThanMs: 3_600_000, maxBytes: 0, dryRun: false })).toEqual({ blobs: 0, bytes: 0 });
    expect(await store.collectBlobs({ ...everything, dryRun: true })).toEqual({ blobs: 2, bytes: 100_031 });
    expect(await store.collectBlobs({ ...everything, dryRun: false })).toEqual({ blobs: 2, bytes: 100_031 });
    for (const { sha256: digest } of [...named, recorded]) expect(await store.blob(digest)).not.toBeNull();
    for (const { sha256: digest } of loose) expect(await store.blob(digest)).toBeNull();
    await store.deleteSessions({});
    expect(await store.collectBlobs({ ...everything, dryRun: false })).toEqual({ blobs: 2, bytes: 100_010 });
  });

  test('a blob that an open Session may be about to name stays', async () => {
    await store.createSession(session('sesn_a', { createdAt: new Date(Date.now() - 1000).toISOString() }), []);
    const { sha256: digest } = await store.putBlob(randomBytes(10));
    expect(await store.collectBlobs({ olderThanMs: 0, maxBytes: 0, dryRun: false })).toEqual({ blobs: 0, bytes: 0 });
    expect(await store.blob(digest)).not.toBeNull();
  });

  test('what was acknowledged is there when the store is opened again, with the same id', async () => {
    const writer = await store.createSession(session('sesn_a'), [message('1')]);
    const unwaited = writer.append([message('2')]);
    const { id } = store;
    await store[Symbol.asyncDispose]();
    await unwaited;
    await expect(store.session('sesn_a')).rejects.toMatchObject({ code: 'store_unavailable' });
    store = await open();
    expect(store.id).toBe(id);
    expect(await all(store, 'sesn_a')).toHaveLength(2);
  });
});

function session(id: string, values: Partial<NewSession> = {}): NewSession {
  return { id, owner: 'owner', experiment: null, trial: null, lane: 'lane', taskName: 'task', createdAt: AT, ...values };
}

function draft(values: Pick<EventDraft, 'type' | 'data'>): EventDraft {
  return { at: AT, author: 'local:0', ...values } as EventDraft;
}

function message(text: string): EventDraft {
  return draft({ type: 'agent.message', data: { text } });
}

function status(value: 'running' | 'idle'): EventDraft {
  return draft({ type: 'session.status', data: { status: value } });
}

async function all(store: Store, id: string, options?: Parameters<Store['events']>[1]): Promise<EventRow[]> {
  return (await collect(store.events(id, options))).flat();
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function* pieces(content: Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < content.length; from += bytes) yield content.subarray(from, from + bytes);
}

function faults(log: readonly EventRow[]): unknown[] {
  const check = new ChainCheck(sha256);
  for (const row of log) check.next(row);
  return check.faults;
}

function many(count: number): EventDraft[] {
  return Array.from({ length: count }, (_, index) => message(`event ${index}`));
}
