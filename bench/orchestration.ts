// Wall time and throughput of a whole trial (an oracle that writes a file, a verifier that reads it, a prebuilt image) against the floor: the same
// engine calls by a bare script. Interleaved in one run, the same network for both. Bounds: wall ≤ 1.15 × the floor alone, ≥ 0.9 × its throughput at 4.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { Client } from '../packages/proctor/src/api/client.ts';
import { compose } from '../packages/proctor/src/compose.ts';
import { compileTasks } from '../packages/proctor/src/compositions/compile-tasks.ts';
import type { Trial } from '../packages/proctor/src/compositions/plan-experiment.ts';
import { runTrial } from '../packages/proctor/src/compositions/run-trial.ts';
import { EnvironmentSpecSchema } from '../packages/proctor/src/domain/environment.ts';
import type { SessionSummary } from '../packages/proctor/src/domain/summary.ts';
import { formats } from '../packages/proctor/src/formats/index.ts';
import { sources } from '../packages/proctor/src/sources/index.ts';
import { floorTrial } from './floor.ts';

const IMAGE = process.argv[2] ?? 'proctor-base:12';
const TRIALS = Number(process.argv[3] ?? 40);
const WALL_BOUND = 1.15;
const THROUGHPUT_BOUND = 0.9;

const directory = mkdtempSync(path.join(os.tmpdir(), 'proctor-bench-'));
const opened = await compose({ home: path.join(directory, 'home'), directory, environment: process.env, janitorArgv: [] });
try {
  const inPlace = await prepare(opened.client, 'in-place', { solve: 'echo hello > /app/hello.txt' });
  const confirmed = await prepare(opened.client, 'confirmed', { solve: 'setsid sleep 60 >/dev/null 2>&1 &\necho hello > /app/hello.txt' });
  const isolated = await prepare(opened.client, 'isolated', { solve: 'echo hello > /app/hello.txt', maxIterations: 2 });
  await floorTrial(IMAGE);
  await inPlace();

  const floor: number[] = [];
  const ours: number[] = [];
  for (let index = 0; index < TRIALS; index += 1) {
    floor.push(await floorTrial(IMAGE));
    ours.push(await inPlace());
  }
  const wall = median(ours) / median(floor);
  console.log(
    `alone, ${TRIALS} trials each, median: floor ${median(floor).toFixed(0)} ms, ours ${median(ours).toFixed(0)} ms, ratio ${wall.toFixed(3)} (bound ${WALL_BOUND})`,
  );

  const rates = { floor: [] as number[], ours: [] as number[] };
  for (let round = 0; round < 4; round += 1) {
    rates.floor.push(await perSecond(() => floorTrial(IMAGE), 4, TRIALS / 2));
    rates.ours.push(await perSecond(inPlace, 4, TRIALS / 2));
  }
  const throughput = median(rates.ours) / median(rates.floor);
  console.log(
    `4 at once, median of 4 rounds: floor ${median(rates.floor).toFixed(2)}/s, ours ${median(rates.ours).toFixed(2)}/s, ratio ${throughput.toFixed(3)} (bound ${THROUGHPUT_BOUND})`,
  );

  for (const [name, trial] of [
    ['isolated', isolated],
    ['confirmed (with 2 s of grace)', confirmed],
  ] as const) {
    const times: number[] = [];
    for (let index = 0; index < 5; index += 1) times.push(await trial());
    console.log(`${name}, 5 trials, median: ${median(times).toFixed(0)} ms (no bound)`);
  }
  process.exitCode = wall <= WALL_BOUND && throughput >= THROUGHPUT_BOUND ? 0 : 1;
} finally {
  await opened.close();
  rmSync(directory, { recursive: true, force: true });
}

/** A function that runs one whole trial through the public operations and gives its milliseconds. */
async function prepare(client: Client, name: string, task: { solve: string; maxIterations?: number }): Promise<() => Promise<number>> {
  const folder = path.join(directory, 'tasks', name);
  const files = {
    'task.toml': `name = "${name}"\nmax_iterations = ${task.maxIterations ?? 1}\n[environment]\nimage = "${IMAGE}"\nworkdir = "/app"\n[verifier]\ncommand = ["bash", "/tests/test.sh"]\nlive_processes = "keep"\n`,
    'instruction.md': 'Write hello to /app/hello.txt\n',
    'tests/test.sh':
      '#!/bin/bash\nif [ "$(cat /app/hello.txt)" = hello ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n',
    'solution/solve.sh': `#!/bin/sh\n${task.solve}\n`,
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
    if (file.endsWith('.sh')) chmodSync(path.join(folder, file), 0o755);
  }
  const { compiled, refused } = await compileTasks(folder, { formats, sources, scratch: path.join(directory, 'scratch') });
  const [one] = compiled;
  if (one === undefined) throw new Error(JSON.stringify(refused));
  const environment = await client.call('environments.create', { name: 'bench', spec: EnvironmentSpecSchema.parse({ sandbox: 'docker' }) });
  const agent = await client.call('agents.create', { from: 'oracle' });
  const { blob } = await client.call('tasks.put', { task: one.task });
  const trial: Trial = {
    id: name,
    task: {
      name,
      digest: one.task.digest,
      blob,
      instruction: one.task.instruction,
      maxIterations: task.maxIterations ?? 1,
      verifierSettings: { rubric: one.task.rubric, grader: one.task.verifier },
      deliverables: [],
      memoryMb: null,
    },
    lane: { label: 'oracle', agentId: agent.id, agentVersion: agent.version, digest: agent.digest, kind: 'oracle' },
    repetition: 1,
    earlier: [],
  };
  return async () => {
    const startedAt = performance.now();
    const summary: SessionSummary = await runTrial(client, trial, {
      experiment: name,
      environment: { id: environment.id, version: environment.version },
      attempt: 1,
      feedback: 'summary',
      onStart: () => {},
      onPhase: () => {},
      signal: new AbortController().signal,
    });
    if (summary.verdict !== 'satisfied') throw new Error(`expected satisfied, found ${summary.verdict}: ${summary.failure_detail}`);
    return performance.now() - startedAt;
  };
}

async function perSecond(trial: () => Promise<number>, concurrency: number, trials: number): Promise<number> {
  const startedAt = performance.now();
  let left = trials;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await trial();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return trials / ((performance.now() - startedAt) / 1000);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
