// The same trials through Proctor and through its peers from PyPI, in one run, four at a time: seconds per trial by whole-process wall time. Makes its
// own Python 3.12 environment. Bounds: ≥ 5 × Harbor at its best (`init: true` in a compose overlay), ≥ 10 × Harbor as it comes, ≥ 3 × Inspect.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { floorTrial } from '../floor.ts';
import { installPackage } from '../setup/installed-package.ts';

const IMAGE = process.argv[2] ?? 'proctor-base:12';
const TRIALS = Number(process.argv[3] ?? 12);
const CONCURRENCY = 4;
const PACKAGES = ['harbor==0.25.0', 'inspect-ai'];
const engineHome = process.env.PROCTOR_ENGINE_HOME ?? '/var/tmp/proctor-engine';
const programs = [path.join(engineHome, 'root', 'usr', 'bin'), '/var/tmp/docker-up/root/usr/bin'].filter((folder) => existsSync(folder));
const environment = {
  ...process.env,
  PATH: [...programs, process.env.PATH].join(path.delimiter),
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  HARBOR_TELEMETRY: 'off',
  NO_COLOR: '1',
};

const venv = preparePython();
const directory = mkdtempSync(path.join(os.tmpdir(), 'proctor-peers-'));
try {
  const plain = writeTask('plain', false);
  const withInit = writeTask('with-init', true);
  const inspectTask = writeInspectTask();
  const proctor = [
    installPackage(path.join(directory, 'proctor')),
    'eval',
    'experiment',
    plain,
    '--agent',
    'oracle',
    '--sandbox',
    'docker',
  ];
  const cache = { NODE_COMPILE_CACHE: path.join(directory, 'compile-cache') };
  // pip compiled the peers' modules when it installed them; Node compiles ours at their first run.
  run('proctor', process.execPath, proctor, { ...cache, PROCTOR_HOME: path.join(directory, 'first-home') });
  const measured: Record<string, number> = {
    floor: await floor(),
    proctor: timed('proctor', process.execPath, [...proctor, '--repeat', String(TRIALS), '--concurrency', String(CONCURRENCY)], {
      ...cache,
      PROCTOR_HOME: path.join(directory, 'home'),
    }),
    inspect: timed('inspect', path.join(venv, 'bin/inspect'), [
      'eval',
      inspectTask,
      '--model',
      'mockllm/model',
      '--epochs',
      String(TRIALS),
      '--max-samples',
      String(CONCURRENCY),
      '--max-sandboxes',
      String(CONCURRENCY),
      '--display',
      'none',
      '--log-dir',
      path.join(directory, 'inspect-logs'),
    ]),
    'harbor at its best': timed('harbor with init', path.join(venv, 'bin/harbor'), harborArgs(withInit)),
    'harbor as it comes': timed('harbor', path.join(venv, 'bin/harbor'), harborArgs(plain)),
  };
  const ours = measured.proctor ?? Number.NaN;
  const bounds: Record<string, number> = { inspect: 3, 'harbor at its best': 5, 'harbor as it comes': 10 };
  let missed = 0;
  console.log(`\n${TRIALS} trials, ${CONCURRENCY} at a time, seconds per trial of whole-process wall time:`);
  for (const [name, seconds] of Object.entries(measured)) {
    const bound = bounds[name];
    const ratio = seconds / ours;
    if (bound !== undefined && ratio < bound) missed += 1;
    console.log(
      `  ${name.padEnd(20)} ${seconds.toFixed(2)} s   ${ratio.toFixed(2)} × ours${bound === undefined ? '' : ` (bound ${bound})`}`,
    );
  }
  process.exitCode = missed === 0 ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function harborArgs(task: string): string[] {
  return [
    'run',
    '-p',
    task,
    '-a',
    'oracle',
    '-k',
    String(TRIALS),
    '-n',
    String(CONCURRENCY),
    '-o',
    path.join(directory, `jobs-${path.basename(task)}`),
    '-y',
    '-q',
  ];
}

/** Seconds per trial. */
function timed(name: string, program: string, args: string[], more: Record<string, string> = {}): number {
  const startedAt = performance.now();
  run(name, program, args, more);
  const seconds = (performance.now() - startedAt) / 1000 / TRIALS;
  console.log(`${name}: ${seconds.toFixed(2)} s per trial`);
  return seconds;
}

function run(name: string, program: string, args: string[], more: Record<string, string>): void {
  const done = spawnSync(program, args, { cwd: directory, env: { ...environment, ...more }, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`${name} ended with ${done.status}: ${done.stdout.slice(-2000)}${done.stderr.slice(-2000)}`);
}

async function floor(): Promise<number> {
  const startedAt = performance.now();
  let left = TRIALS;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await floorTrial(IMAGE);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return (performance.now() - startedAt) / 1000 / TRIALS;
}

function writeTask(name: string, init: boolean): string {
  const folder = path.join(directory, name);
  const files: Record<string, string> = {
    'task.toml': `version = "1.0"\n[verifier]\ntimeout_sec = 60.0\n[agent]\ntimeout_sec = 60.0\n[environment]\ndocker_image = "${IMAGE}"\nworkdir = "/app"\n`,
    'instruction.md': 'Write hello to /app/hello.txt\n',
    'tests/test.sh':
      '#!/bin/bash\nif [ "$(cat /app/hello.txt)" = hello ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n',
    'solution/solve.sh': '#!/bin/bash\nmkdir -p /app && echo hello > /app/hello.txt\n',
    ...(init ? { 'environment/docker-compose.yaml': 'services:\n  main:\n    init: true\n' } : { 'environment/.keep': '' }),
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
    if (file.endsWith('.sh')) chmodSync(path.join(folder, file), 0o755);
  }
  if (!init) rmSync(path.join(folder, 'environment', '.keep'));
  return folder;
}

function writeInspectTask(): string {
  const folder = path.join(directory, 'inspect');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path.join(folder, 'compose.yaml'),
    `services:\n  default:\n    image: ${IMAGE}\n    init: true\n    command: tail -f /dev/null\n    network_mode: none\n`,
  );
  writeFileSync(
    path.join(folder, 'hello.py'),
    `from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver
from inspect_ai.util import sandbox


@solver
def write_hello():
    async def solve(state, generate):
        await sandbox().exec(["bash", "-c", "mkdir -p /app && echo hello > /app/hello.txt"])
        return state

    return solve


@scorer(metrics=[accuracy()])
def read_hello():
    async def score(state, target):
        await sandbox().write_file("/tests/test.sh", "test \\"$(cat /app/hello.txt)\\" = hello && echo 1 || echo 0")
        result = await sandbox().exec(["bash", "/tests/test.sh"])
        return Score(value=1 if result.stdout.strip() == "1" else 0)

    return score


@task
def hello():
    return Task(dataset=[Sample(input="Write hello", target="1")], solver=write_hello(), scorer=read_hello(), sandbox=("docker", "compose.yaml"))
`,
  );
  return path.relative(directory, path.join(folder, 'hello.py'));
}

function preparePython(): string {
  const venv = process.env.PROCTOR_PEERS_VENV ?? '/var/tmp/proctor-peers';
  if (existsSync(path.join(venv, 'bin/harbor')) && existsSync(path.join(venv, 'bin/inspect'))) return venv;
  const python = ['python3.12', ...globSync(path.join(os.homedir(), '.pyenv/versions/3.12*/bin/python'))].find(
    (one) => spawnSync(one, ['--version']).status === 0,
  );
  if (python === undefined) throw new Error('the peers need Python 3.12: put python3.12 on PATH');
  console.log(`installing ${PACKAGES.join(', ')} into ${venv} ...`);
  execFileSync(python, ['-m', 'venv', venv]);
  execFileSync(path.join(venv, 'bin/pip'), ['install', '-q', ...PACKAGES], { stdio: 'inherit' });
  return venv;
}
