// Start-up of the built program, as installed, against a bare `node -e 0`: taken in turns in one run, the compile cache warm.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { installPackage } from './setup/installed-package.ts';

const ROUNDS = 15;
const scratch = mkdtempSync(path.join(tmpdir(), 'proctor-start-'));
const task = path.join(scratch, 'task');

let missed = false;
try {
  const program = installPackage(path.join(scratch, 'proctor'));
  writeTask();
  const bare = ['-e', '0'];
  const cases = [
    { name: 'proctor --help', argv: [program, '--help'], bound: 2.5 },
    { name: 'proctor eval task', argv: [program, 'eval', 'task', task], bound: 4 },
  ];
  const times = new Map<readonly string[], number[]>([bare, ...cases.map((one) => one.argv)].map((argv) => [argv, []]));
  // The first run fills the compile cache and is not counted.
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [argv, taken] of times) {
      const milliseconds = run(argv);
      if (round >= 0) taken.push(milliseconds);
    }
  }
  const floor = median(times.get(bare) ?? []);
  for (const { name, argv, bound } of cases) {
    const own = median(times.get(argv) ?? []);
    const ratio = own / floor;
    missed ||= ratio > bound;
    process.stdout.write(
      `${name}: ${own.toFixed(0)} ms, node -e 0: ${floor.toFixed(0)} ms, ratio ${ratio.toFixed(2)} (bound ≤ ${bound})\n`,
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = missed ? 1 : 0;

function writeTask(): void {
  mkdirSync(path.join(task, 'tests'), { recursive: true });
  writeFileSync(
    path.join(task, 'task.toml'),
    'name = "start"\n\n[environment]\ndocker_image = "debian:12-slim"\n\n[verifier]\ncommand = ["sh", "/tests/check.sh"]\n',
  );
  writeFileSync(path.join(task, 'instruction.md'), 'Do nothing.\n');
  writeFileSync(path.join(task, 'tests/check.sh'), 'echo 1 > /logs/verifier/reward.txt\n');
}

function run(argv: readonly string[]): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', cwd: scratch });
  const milliseconds = performance.now() - started;
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`);
  return milliseconds;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
