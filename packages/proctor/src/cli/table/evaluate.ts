import type { CommandSpec } from '../command.ts';
import { environmentName, notEmpty, numberAbove, wholeNumber } from '../values.ts';
import { COMPILE_OPTIONS, JSON_OUTPUT, SANDBOX_OPTIONS, SELECT_OPTIONS } from './options.ts';

const EXPERIMENT_EXITS = {
  0: 'every verdict is satisfied',
  1: 'some verdicts are not',
  2: 'a task or the configuration is wrong, or there is no task',
  3: 'a trial is unsettled or could not be scored; or an attempt was superseded (see --accept-retries)',
} as const;

const WHAT = 'What runs:';
const HOW = 'How it runs:';
const JUDGE = 'How it is judged:';
const OUTPUT = 'Output:';

const EVAL_TASK: CommandSpec = {
  name: 'task',
  arguments: '<dir>',
  summary: 'Compile one task folder and print what would run. Creates nothing, runs nothing.',
  details:
    'Shows the exact inputs of an isolated graded Session: image, workdir, limits, verifier, iteration bound, and what became of every key of the source.',
  examples: [
    { says: 'what would run, and what was ignored', line: 'proctor eval task ./my-tasks/hello' },
    { says: 'the whole account, for a program', line: 'proctor eval task ./my-tasks/hello --json | jq .task.verifier' },
  ],
  exits: { 0: 'compiled', 2: 'the task is wrong' },
  options: [
    ...COMPILE_OPTIONS.map((option) => ({ ...option, group: undefined })),
    { flags: '--verbose', summary: 'list taken and defaulted keys too' },
    JSON_OUTPUT,
  ],
  load: () => import('../eval-task.ts'),
};

const EVAL_EXPERIMENT: CommandSpec = {
  name: 'experiment',
  arguments: '<tasks...>',
  summary: 'Evaluate agents on tasks: every task × agent × repetition in a Session of its own.',
  details:
    'Tasks: folders, searched for tasks at any depth, or a proctor.toml that holds all of this. The same command again resumes: ' +
    'finished trials are reused, missing ones run. Ctrl-C stops cleanly and keeps what has finished.',
  examples: [
    {
      says: 'two agents side by side, five times each',
      line: 'proctor eval experiment ./my-tasks --agent oracle --agent mine=command:./my-agent.sh --repeat 5',
    },
    { says: 'what would run, and what is reused', line: 'proctor eval experiment ./my-tasks --agent ./my-agent --dry-run' },
    {
      says: 'keep it as a file in git, then run that',
      line: 'proctor eval experiment ./my-tasks --agent ./my-agent --write-config proctor.toml',
    },
  ],
  exits: EXPERIMENT_EXITS,
  options: [
    {
      flags: '--agent <spec>',
      summary:
        '[label=]agent: oracle, nop, command:./run.sh, command:["./run.sh","x"], a folder with agent.toml, a module (.ts, .js), an id; repeat for more lanes',
      value: notEmpty,
      repeats: true,
      group: WHAT,
    },
    { flags: '--repeat <n>', summary: 'repetitions of each task and agent, 1–100 (default 1)', value: wholeNumber(1, 100), group: WHAT },
    {
      flags: '--agent-env <name>',
      summary: 'pass this host variable to the agent; its value is redacted everywhere; may be repeated',
      value: environmentName,
      repeats: true,
      group: WHAT,
    },
    {
      flags: '--only <which>',
      summary: 'unscored or failed: run these again; else a glob of task names: these alone',
      value: notEmpty,
      group: WHAT,
    },
    { flags: '--limit <n>', summary: 'at most so many tasks', value: wholeNumber(1, 1_000_000), group: WHAT },
    { flags: '--shuffle', summary: 'in random order, the same for the same seed', group: WHAT },
    { flags: '--seed <n>', summary: 'of --shuffle (default 0)', value: wholeNumber(0, 2 ** 32 - 1), group: WHAT },
    ...SELECT_OPTIONS,
    ...COMPILE_OPTIONS,
    ...SANDBOX_OPTIONS,
    {
      flags: '--concurrency <n>',
      summary: 'trials at once (default: what cores and memory allow)',
      value: wholeNumber(1, 1024),
      group: HOW,
    },
    {
      flags: '--max-attempts <n>',
      summary: 'attempts of a trial that the infrastructure failed, 1–10 (default 2)',
      value: wholeNumber(1, 10),
      group: HOW,
    },
    { flags: '--timeout-multiplier <x>', summary: 'every time limit of a task, times this', value: numberAbove(0), group: HOW },
    {
      flags: '--fail-fast <n>',
      summary: 'stop after n trials when every one is an infrastructure failure',
      value: wholeNumber(1, 1_000_000),
      group: HOW,
    },
    {
      flags: '--experiment <name>',
      summary: 'the label to run under (default: made from tasks, environment and settings)',
      value: notEmpty,
      group: HOW,
    },
    { flags: '--fresh', summary: 'reuse nothing', group: HOW },
    { flags: '--keep-state', summary: 'keep the filesystem of each Session, for proctor shell <session> (Docker)', group: HOW },
    { flags: '--dry-run', summary: 'the plan: what runs, what is reused and why', group: HOW },
    { flags: '--budget <amount>', summary: 'not in this build: refused', group: HOW },
    {
      flags: '--max-iterations <n>',
      summary: 'bound of a task that declares none, 1–20 (default 1)',
      value: wholeNumber(1, 20),
      group: JUDGE,
    },
    {
      flags: '--feedback <kind>',
      summary: 'what a revision is told: none, summary (default) or full',
      choices: ['none', 'summary', 'full'],
      group: JUDGE,
    },
    {
      flags: '--live-processes <policy>',
      summary: 'what happens to processes that the agent left: keep, kill or contest',
      choices: ['keep', 'kill', 'contest'],
      group: JUDGE,
    },
    { flags: '--reward-key <name>', summary: 'the reward that decides where a task publishes several', value: notEmpty, group: JUDGE },
    {
      flags: '--grader <which>',
      summary: 'verifier (default); both is not in this build: refused',
      choices: ['verifier', 'both'],
      group: JUDGE,
    },
    { flags: '--grader-model <name>', summary: 'not in this build: refused', group: JUDGE },
    { flags: '--accept-retries', summary: 'a superseded attempt does not make the exit code 3', group: JUDGE },
    { ...JSON_OUTPUT, group: OUTPUT },
    { flags: '--markdown <file>', summary: 'the report as Markdown, too', path: true, group: OUTPUT },
    { flags: '--junit <file>', summary: 'the report as JUnit XML, too', path: true, group: OUTPUT },
    { flags: '--output <dir>', summary: 'report.json, report.md and junit.xml in this folder', path: true, group: OUTPUT },
    { flags: '--write-config <file>', summary: 'write this command as a proctor.toml and run nothing', path: true, group: OUTPUT },
  ],
  load: () => import('../eval-experiment.ts'),
};

export const EVAL: CommandSpec = {
  name: 'eval',
  summary: 'Compile a task, or evaluate agents on tasks.',
  commands: [EVAL_EXPERIMENT, EVAL_TASK],
};

export const CHECK: CommandSpec = {
  name: 'check',
  arguments: '<tasks...>',
  summary: 'Prove that tasks can be passed and failed: the reference solution must pass, doing nothing must not.',
  examples: [
    { says: 'before you spend money on a benchmark', line: 'proctor check ./my-tasks' },
    { says: 'without Docker', line: 'proctor check ./my-tasks --sandbox local --ignore-image' },
  ],
  exits: { 0: 'every task is sound', 1: 'some are not', 2: 'a task or the configuration is wrong', 3: 'some could not be judged' },
  options: [
    ...SELECT_OPTIONS,
    ...COMPILE_OPTIONS,
    ...SANDBOX_OPTIONS,
    {
      flags: '--concurrency <n>',
      summary: 'trials at once (default: what cores and memory allow)',
      value: wholeNumber(1, 1024),
      group: HOW,
    },
    { flags: '--timeout-multiplier <x>', summary: 'every time limit of a task, times this', value: numberAbove(0), group: HOW },
    { flags: '--fresh', summary: 'check again what has been checked', group: HOW },
    { ...JSON_OUTPUT, group: OUTPUT },
  ],
  load: () => import('../check.ts'),
};
