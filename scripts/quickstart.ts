// The main job on this machine, as it is: two agents on five sample tasks, each trial in a sandbox of its own, and what the numbers mean.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SANDBOXES } from '../packages/proctor/src/sandboxes/index.ts';
import { proctor, root } from './run-step.ts';

const home = path.join(root, '.proctor', 'quickstart');
const output = path.join(home, 'report');
const tasks = 'examples/tasks/anywhere';
const sandbox = await chooseSandbox();

const command = ['eval', 'experiment', tasks, '--agent', 'oracle', '--agent', 'nop', ...sandbox.flags];
console.log(`Each task is a folder: an instruction for an agent, a hidden check, and a reference solution. Sandbox: ${sandbox.says}.\n`);
console.log(`$ proctor ${command.join(' ')}\n`);

const [program = '', ...args] = proctor(...command, '--fresh', '--output', output);
const ended = spawnSync(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, PROCTOR_HOME: home } });
// 1 is right here: nop is meant to fail.
if (ended.status !== 1) fail(`expected exit code 1, because nop satisfies no check, and found ${ended.status ?? ended.signal}`);

const report: { sessions: { lane: string | null; task: string | null; trial_result: string }[] } = JSON.parse(
  readFileSync(path.join(output, 'report.json'), 'utf8'),
);
const wrong = report.sessions.filter(({ lane, trial_result }) => (trial_result === 'passed') !== (lane === 'oracle'));
if (report.sessions.length === 0) fail('expected a report on ten Sessions, and found none in it');
if (wrong.length > 0)
  fail(
    `these trials ended otherwise than they must: ${wrong.map(({ lane, task, trial_result }) => `${lane} on ${task} ${trial_result}`).join(', ')}`,
  );

console.log(`
What you see:
  oracle   runs each task's reference solution, so it must pass everything: the tasks can be solved, and their checks can say yes.
  nop      does nothing, so it must pass nothing: the checks can say no. That is also why the command above ends with exit code 1.
  rate     passed trials of those that were scored; the interval says how little so few trials prove.
  —        was not measured. It is never shown as 0.

Next:
  npm run dev -- eval experiment ${tasks} --agent half-done=./examples/agents/half-done${sandbox.flags.map((flag) => ` ${flag}`).join('')}
  npm run dev -- init my-tasks        your own task set, to begin with
  npm run dev -- --help`);

/** The local sandbox, else Docker with an image for tasks that name none, else plain processes, which are marked on every report. */
async function chooseSandbox(): Promise<{ flags: string[]; says: string }> {
  const reasons: string[] = [];
  for (const [name, flags] of [
    ['local', ['--sandbox', 'local']],
    ['docker', ['--sandbox', 'docker', '--image-template', 'debian:12-slim']],
  ] as const) {
    await using provider = SANDBOXES[name]({ environment: process.env, directory: path.join(home, 'sandboxes') });
    const reason = await provider.unusable();
    if (reason === null) return { flags: [...flags], says: name === 'local' ? 'local, namespaces of this machine' : 'Docker' };
    reasons.push(`${name}: ${reason}`);
  }
  console.log(reasons.join('\n'));
  return { flags: ['--isolation', 'none'], says: 'NONE. The samples run as plain processes of yours, and the report is marked so' };
}

function fail(sentence: string): never {
  console.error(`\nquickstart failed: ${sentence}. See proctor's own message above.`);
  process.exit(1);
}
