import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MIGRATIONS } from '../migrations/index.ts';
import { checkFormat, migrate } from './migrate.ts';

let folder: string;
let file: string;
let database: DatabaseSync;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'proctor-migrate-'));
  file = path.join(folder, 'store.db');
  database = new DatabaseSync(file);
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

const format = (): unknown => database.prepare('PRAGMA user_version').get()!.user_version;
const tables = (): unknown[] =>
  database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'added%'`)
    .all()
    .map((row) => row.name);

test('a new store gets every step, an older one those that it lacks, and its id stays', () => {
  migrate(database, file, 'store_first');
  expect(format()).toBe(MIGRATIONS.length);
  migrate(database, file, 'store_second', [...MIGRATIONS, 'CREATE TABLE added_a (x)', 'CREATE TABLE added_b (x)']);
  expect(format()).toBe(MIGRATIONS.length + 2);
  expect(tables()).toEqual(['added_a', 'added_b']);
  expect(database.prepare('SELECT id FROM store').all()).toMatchObject([{ id: 'store_first' }]);
});

test('a step that fails half-way leaves the format before it', () => {
  const steps = [...MIGRATIONS, 'CREATE TABLE added_a (x)', 'CREATE TABLE added_b (x); CREATE TABLE added_a (y)'];
  expect(() => migrate(database, file, 'store_first', steps)).toThrow('already exists');
  expect(format()).toBe(MIGRATIONS.length + 1);
  expect(tables()).toEqual(['added_a']);
});

test('a store that is only read is refused in an older format', () => {
  migrate(database, file, 'store_first');
  expect(() => checkFormat(database, file, [...MIGRATIONS, 'CREATE TABLE added_a (x)'])).toThrow(/older format \d+ and can only be read/);
});
