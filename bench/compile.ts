// Claim: finding and compiling task folders costs at most twice what reading, TOML-parsing and hashing the same files costs. Both are measured in
// this run, in turn, on the same folders with the same concurrency; prints the ratio of the quickest rounds, which other work on the machine disturbs
// least, and fails above 2.
import { hash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'smol-toml';
import { compileTasks } from '../packages/proctor/src/compositions/compile-tasks.ts';
import { formats } from '../packages/proctor/src/formats/index.ts';
import { sources } from '../packages/proctor/src/sources/index.ts';

const FOLDERS = 1000;
const ROUNDS = 21;
const BOUND = 2;

const root = mkdtempSync(path.join(tmpdir(), 'bench-compile-'));
try {
  for (let index = 0; index < FOLDERS; index += 1)
    writeTask(path.join(root, `group-${index % 10}`, `task-${String(index).padStart(4, '0')}`), index);
  for (let warmUp = 0; warmUp < 4; warmUp += 1) {
    readAll(root);
    await compileAll();
  }
  const reading: number[] = [];
  const compiling: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    reading.push(await timed(async () => readAll(root)));
    compiling.push(await timed(compileAll));
  }
  const [read, compiled] = [Math.min(...reading), Math.min(...compiling)];
  const ratio = compiled / read;
  const line = `compile ${FOLDERS} folders: ${compiled.toFixed(0)} ms, read+parse+hash: ${read.toFixed(0)} ms, ratio ${ratio.toFixed(2)} (bound ${BOUND})`;
  process.stdout.write(`${line}\n`);
  if (ratio > BOUND) process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function compileAll(): Promise<void> {
  const { compiled, refused } = await compileTasks(root, { formats, sources, scratch: root });
  if (compiled.length !== FOLDERS)
    throw new Error(`expected ${FOLDERS} compiled tasks, found ${compiled.length} and refused ${JSON.stringify(refused[0])}`);
}

/** What nobody can do without: every file once, the TOML parsed, everything hashed. */
function readAll(folder: string): number {
  let files = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const host = path.join(folder, entry.name);
    if (entry.isDirectory()) files += readAll(host);
    else {
      const bytes = readFileSync(host);
      if (entry.name === 'task.toml') parse(bytes.toString('utf8'));
      hash('sha256', bytes, 'hex');
      files += 1;
    }
  }
  return files;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function writeTask(folder: string, index: number): void {
  for (const name of ['environment', 'tests', 'solution']) mkdirSync(path.join(folder, name), { recursive: true });
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
  write('task.toml', taskToml(index));
  write('instruction.md', `# Task ${index}\n\n${'Sort the rows of the table by their second column and write them back.\n'.repeat(20)}`);
  write('environment/Dockerfile', 'FROM debian-min:12\nWORKDIR /app\nCOPY rows.csv /app/rows.csv\n');
  write('environment/rows.csv', 'name,value\n'.repeat(200));
  write(
    'tests/test.sh',
    '#!/bin/bash\npython3 /tests/test_rows.py && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n',
  );
  write('tests/test_rows.py', 'import csv\n'.repeat(80));
  write('solution/solve.sh', '#!/bin/bash\nsort -t, -k2 rows.csv -o rows.csv\n');
  chmodSync(path.join(folder, 'tests', 'test.sh'), statSync(path.join(folder, 'tests', 'test.sh')).mode | 0o111);
}

function taskToml(index: number): string {
  return `schema_version = "1.3"
artifacts = ["/app/rows.csv"]

[task]
name = "bench/task-${index}"
description = "Sort the rows of a table"
authors = [{ name = "A", email = "a@example.com" }]
keywords = ["csv", "sorting"]

[metadata]
difficulty = "medium"
category = "data"
tags = ["csv", "python"]
expert_time_estimate_min = 10.0

[agent]
timeout_sec = 600.0

[verifier]
timeout_sec = 120.0
env = { MODE = "strict" }

[environment]
build_timeout_sec = 600.0
cpus = 1
memory_mb = 2048
storage_mb = 10240
network_mode = "public"
`;
}
