// The main job on this machine, as it is: three agents on five sample tasks, each trial in a sandbox of its own, and what the numbers mean.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SANDBOXES } from '../packages/proctor/src/sandboxes/index.ts';
import { proctor, root } from './run-step.ts';

const home = path.join(root, '.proctor', 'quickstart');
const output = path.join(home, 'report');
const tasks = 'examples/tasks/anywhere';
const sandbox = await chooseSandbox();

const command = [
  'eval',
  'experiment',
  tasks,
  '--agent',
  'oracle',
  '--agent',
  'nop',
  '--agent',
  'half-done=./examples/agents/half-done',
  ...sandbox.flags,
];
console.log(`Each task is a folder: an instruction for an agent, a hidden check, and a reference solution. Sandbox: ${sandbox.says}.\n`);
console.log(`$ proctor ${command.join(' ')}\n`);

const [program = '', ...args] = proctor(...command, '--fresh', '--output', output);
const ended = spawnSync(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, PROCTOR_HOME: home } });
// 1 is right here: two of the agents are meant to fail.
if (ended.status !== 1) fail(`expected exit code 1, because nop satisfies no check, and found ${ended.status ?? ended.signal}`);

const report: { sessions: { lane: string | null; task: string | null; trial_result: string }[] } = JSON.parse(
  readFileSync(path.join(output, 'report.json'), 'utf8'),
);
const wrong = report.sessions.filter(
  ({ lane, trial_result }) => (lane === 'oracle' && trial_result !== 'passed') || (lane === 'nop' && trial_result !== 'failed'),
);
if (report.sessions.length === 0) fail('expected a report on fifteen Sessions, and found none in it');
if (wrong.length > 0)
  fail(
    `these trials ended otherwise than they must: ${wrong.map(({ lane, task, trial_result }) => `${lane} on ${task} ${trial_result}`).join(', ')}`,
  );

console.log(`
What you see:
  oracle      runs each task's reference solution, so it must pass everything: the tasks can be solved, and their checks can say yes.
  nop         does nothing, so it must pass nothing: the checks can say no.
  half-done   a scripted agent of examples/agents. It solves two tasks (one of them at its second attempt) and three quarters of a third:
              ◐ partial is shown, and never counted as passed.
  % [ , ]     share of trials passed, with its 95 % interval: how little so few trials prove. Of the scored trials, and of all of them.
  Comparison  two agents on the same tasks: by how much one is better, and how likely such a difference is by chance alone (p).
  Measured    mean and total over those Sessions that recorded the quantity. What was not recorded says so, and is never shown as 0:
              these agents call no model, so there are no tokens and no cost.
  exit 1      the experiment's own exit code, because not every verdict is satisfied. That is as it should be: this quickstart ends with 0.

Next:
  npm run dev -- report               the same report again; --format markdown, json or junit
  npm run dev -- sessions list        every trial is a Session with a log of its own: sessions show, events, diff, verify
  npm run dev -- init my-tasks        your own task set, to begin with
  npm run dev -- --help
The Sessions of this run are in .proctor/quickstart: put PROCTOR_HOME=.proctor/quickstart before these commands to see them.`);

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
