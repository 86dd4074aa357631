// Memory of the CLI with 64 trials running at once: the installed package run directly, local sandboxes, agents that sleep until all are there. What
// is counted is the most that process alone ever held (VmHWM), from its start to its report, without its sandboxes and their agents.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { installPackage } from './setup/installed-package.ts';

const TRIALS = 64;
const BOUND_MIB = 250;
/** How long all of them sleep together. */
const TOGETHER_MS = 3000;
const START_LIMIT_MS = 300_000;
const WATCH_MS = 100;

const scratch = mkdtempSync(path.join(tmpdir(), 'proctor-memory-'));
/** No other process of this host sleeps this long. */
const seconds = `${86_400 + process.pid}`;
let highestMib = 0;
let cli: ChildProcess | null = null;
try {
  const program = installPackage(path.join(scratch, 'proctor'));
  const agent = `command:${JSON.stringify(['sleep', seconds])}`;
  const many = ['--repeat', String(TRIALS), '--concurrency', String(TRIALS)];
  const output = path.join(scratch, 'output');
  const argv = ['eval', 'experiment', writeTask(), '--agent', agent, '--sandbox', 'local', '--output', output, ...many];
  cli = spawn(process.execPath, [program, ...argv], {
    cwd: scratch,
    env: { ...process.env, PROCTOR_HOME: path.join(scratch, 'home') },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const ended = new Promise<number | null>((resolve) => cli?.once('exit', resolve));
  const asleep = await allAsleep(cli);
  for (const startedAt = performance.now(); performance.now() - startedAt < TOGETHER_MS; await delay(WATCH_MS)) watch(cli);
  for (const pid of asleep) process.kill(pid, 'SIGTERM');
  while (cli.exitCode === null && cli.signalCode === null) {
    watch(cli);
    await delay(WATCH_MS);
  }
  const code = await ended;
  const report = JSON.parse(readFileSync(path.join(output, 'report.json'), 'utf8'));
  const judged = report.sessions.filter((session: { verdict: string | null }) => session.verdict === 'satisfied').length;
  if (judged !== TRIALS) throw new Error(`expected ${TRIALS} satisfied Sessions, found ${judged}; the CLI ended with ${code}`);
  process.stdout.write(
    `${TRIALS} trials at once: ${highestMib.toFixed(0)} MiB at most, ratio ${(highestMib / BOUND_MIB).toFixed(2)} of the bound (${BOUND_MIB} MiB)\n`,
  );
  process.exitCode = highestMib <= BOUND_MIB ? 0 : 1;
} finally {
  cli?.kill();
  rmSync(scratch, { recursive: true, force: true });
}

/** The process ids of the agents, once there is one for each trial. */
async function allAsleep(cli: ChildProcess): Promise<number[]> {
  for (const startedAt = performance.now(); performance.now() - startedAt < START_LIMIT_MS; await delay(WATCH_MS)) {
    watch(cli);
    const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && argvOf(name) === `sleep\0${seconds}\0`);
    if (found.length === TRIALS) return found.map(Number);
    if (cli.exitCode !== null) throw new Error(`the CLI ended with ${cli.exitCode} when ${found.length} agents were asleep`);
  }
  throw new Error(`expected ${TRIALS} agents asleep within ${START_LIMIT_MS} ms`);
}

function argvOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function watch(cli: ChildProcess): void {
  let status: string;
  try {
    status = readFileSync(`/proc/${cli.pid}/status`, 'utf8');
  } catch {
    return;
  }
  // A process that has ended has no such line.
  highestMib = Math.max(highestMib, Number(status.match(/^VmHWM:\s+(\d+) kB$/m)?.[1] ?? 0) / 1024);
}

function writeTask(): string {
  const task = path.join(scratch, 'task');
  mkdirSync(path.join(task, 'tests'), { recursive: true });
  writeFileSync(path.join(task, 'task.toml'), 'name = "sleep"\n\n[verifier]\ncommand = ["sh", "/tests/check.sh"]\n');
  writeFileSync(path.join(task, 'instruction.md'), 'Sleep.\n');
  writeFileSync(path.join(task, 'tests/check.sh'), 'echo 1 > /logs/verifier/reward.txt\n');
  return task;
}
