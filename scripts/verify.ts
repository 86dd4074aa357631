// The whole proof on one machine: what the tests need is installed (as root on Debian), everything is checked, built, tested and tried by use.
// The last line is `N passed, N failed`, with every test and every step counted.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { builtProctor, installed, printResults, root, runStep, type StepResult } from './run-step.ts';

const scratch = await mkdtemp(path.join(os.tmpdir(), 'proctor-verify-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const results: StepResult[] = [];
const counted = { passed: 0, failed: 0, skipped: 0 };
const isRoot = process.getuid?.() === 0;

prepareHost();
const hasDocker = spawnSync('docker', ['version'], { stdio: 'ignore' }).status === 0;
if (!hasDocker) console.log('no Docker engine answers: what needs one will be skipped');

for (const [name, ...argv] of [
  ['format and lint', ...installed('biome', 'ci', '--colors=off', '.')],
  ['types', ...installed('tsc', '-p', '.')],
  ['nothing unused', ...installed('knip')],
  ['build and package', 'npm', 'pack', '--dry-run', '--workspace', 'packages/proctor'],
]) {
  results.push(await runStep({ name: name ?? '', argv }));
}
await runTests();
for (const [name, ...argv] of [
  ['quickstart', process.execPath, path.join(root, 'scripts/quickstart.ts')],
  ['samples without Docker', ...builtProctor('check', 'examples/tasks/anywhere', '--sandbox', 'local', '--fresh')],
  ['samples as plain processes', ...builtProctor('check', 'examples/tasks/anywhere', '--isolation', 'none', '--fresh')],
  ...(hasDocker ? [['samples in Docker', ...builtProctor('check', 'examples/tasks/docker', '--sandbox', 'docker', '--fresh')]] : []),
]) {
  results.push(await runStep({ name: name ?? '', argv, env: { PROCTOR_HOME: path.join(scratch, 'home') } }));
}

printResults(results);
const passed = counted.passed + results.filter((result) => result.passed).length;
const failed = counted.failed + results.filter((result) => !result.passed).length;
if (counted.skipped > 0) console.log(`${counted.skipped} tests skipped; each printed its reason`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Debian packages and a Docker engine. What cannot be had is said here, and the tests that need it skip with their reason. */
function prepareHost(): void {
  const packages = [
    'bubblewrap',
    'util-linux',
    'git',
    'runc',
    'iptables',
    'debootstrap',
    'busybox-static',
    'tmux',
    'python3',
    'ca-certificates',
  ];
  const missing = packages.filter(
    (name) => spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], { encoding: 'utf8' }).stdout !== 'installed',
  );
  if (missing.length > 0 && (!isRoot || !existsSync('/usr/bin/apt-get'))) {
    console.log(
      `${isRoot ? 'no apt-get here' : 'not root'}: ${missing.join(', ')} cannot be installed, and what needs them will be skipped`,
    );
    return;
  }
  if (missing.length > 0) {
    console.log(`── installing ${missing.join(', ')}`);
    const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', 'update', '-qq'], options);
    const install = spawnSync(
      'apt-get',
      ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '-qq', '--no-install-recommends', ...missing],
      options,
    );
    if (install.status !== 0) console.log('apt-get could not install everything: what needs it will be skipped');
  }
  const engine = path.join(root, 'scripts', 'docker-engine.sh');
  if (!isRoot || !existsSync(engine)) return;
  console.log('── starting a Docker engine');
  const started = spawnSync('bash', [engine], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
  console.log(started.stdout.trim());
  if (started.status !== 0) console.log('no Docker engine could be started');
  // What the samples name. On a machine that reaches a registry it is pulled; here the base image of the tests stands in for it.
  if (spawnSync('docker', ['image', 'inspect', 'debian:12-slim'], { stdio: 'ignore' }).status !== 0)
    spawnSync('docker', ['tag', 'proctor-base:12', 'debian:12-slim']);
}

/** Every test, counted one by one; a file that cannot be loaded counts as one failure. */
async function runTests(): Promise<void> {
  const report = path.join(scratch, 'tests.json');
  const argv = installed('vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`);
  const step = await runStep({ name: 'tests', argv });
  if (!existsSync(report)) {
    results.push({ ...step, passed: false });
    return;
  }
  const tests: VitestReport = JSON.parse(readFileSync(report, 'utf8'));
  counted.passed = tests.numPassedTests;
  counted.skipped = tests.numPendingTests;
  const unloaded = tests.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((one) => one.status === 'failed'),
  );
  counted.failed = tests.numFailedTests + unloaded.length;
  // An error outside every test, such as a rejection that nobody awaited.
  if (!step.passed && counted.failed === 0) counted.failed = 1;
}

type VitestReport = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
};
