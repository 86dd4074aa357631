import { createHash } from 'node:crypto';
import type { SessionSummary } from '../domain/summary.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import { table } from './columns.ts';
import type { Call } from './command.ts';
import { compiledFor } from './compiled-tasks.ts';
import { runExperiment } from './eval-experiment.ts';
import { askedExperiment } from './experiment-settings.ts';
import { reportOf } from './report-output.ts';
import { tell } from './tell.ts';

export type CheckedTask = {
  task: string;
  /** unjudged = one of the two trials has no score, so nothing is proved. */
  verdict: 'sound' | 'unsound' | 'unjudged' | 'refused';
  why: string | null;
  oracle: Trial | null;
  nop: Trial | null;
};
type Trial = Pick<SessionSummary, 'session_id' | 'trial_result' | 'reward' | 'firmness' | 'failure_mode' | 'failure_detail'>;

/** `proctor check`: an experiment of two lanes, read as a proof. */
export async function run(call: Call): Promise<number> {
  const asked = await askedExperiment(call.words, call.given);
  const lanes = { oracle: 'oracle', nop: 'nop' };
  const compiled = await compiledFor(call, asked);
  const identity = createHash('sha256')
    .update(JSON.stringify([compiled.argument, asked.environment, asked.settings]))
    .digest('hex');
  const end = await runExperiment(
    call,
    { ...asked, lanes, repeat: 1, experiment: asked.experiment ?? `check-${identity.slice(0, 10)}` },
    compiled,
    {
      only: null,
      fresh: call.given.flag('fresh'),
      dryRun: false,
      says: 'Stopping: running trials are interrupted and their sandboxes removed; what has been checked is kept.',
    },
  );
  if (end.kind !== 'ran') return 0;
  // Of several attempts the last one counts, as in any report.
  const report = reportOf({ ...end.report, accept_retries: true });
  const tasks = [
    ...[...new Set(compiled.compiled.map(({ task }) => task.name))]
      .filter((name) => !report.refused.some((one) => one.task === name))
      .map((name) => checked(name, lastOf(report.sessions, name, 'oracle'), lastOf(report.sessions, name, 'nop'))),
    ...report.refused.map(
      (one): CheckedTask => ({ task: one.task, verdict: 'refused', why: one.issues[0]?.message ?? null, oracle: null, nop: null }),
    ),
  ];
  const exit = end.report.interrupted ? 130 : exitOf(tasks);
  tell(call, { schema: 'proctor.check/1', experiment: report.experiment, tasks, exit }, () => checkText(tasks, call.terminal.paint));
  return exit;
}

function checked(task: string, oracle: Trial | null, nop: Trial | null): CheckedTask {
  const missing = [oracle === null ? 'oracle' : null, nop === null ? 'nop' : null].filter((one) => one !== null);
  if (missing.length > 0) return { task, verdict: 'unjudged', why: `${missing.join(' and ')} did not run`, oracle, nop };
  const unscored = [oracle, nop].find((one) => one?.trial_result === 'unscored');
  if (unscored !== undefined && unscored !== null) {
    return { task, verdict: 'unjudged', why: unscored.failure_detail ?? unscored.failure_mode ?? 'it could not be scored', oracle, nop };
  }
  const reasons = [
    oracle?.trial_result === 'passed' ? null : `the reference solution does not pass (reward ${oracle?.reward ?? '—'})`,
    nop?.trial_result === 'passed' ? 'doing nothing passes' : null,
  ].filter((one) => one !== null);
  return { task, verdict: reasons.length === 0 ? 'sound' : 'unsound', why: reasons.length === 0 ? null : reasons.join('; '), oracle, nop };
}

function lastOf(sessions: readonly SessionSummary[], task: string, lane: string): Trial | null {
  const found = sessions.findLast((one) => one.task === task && one.lane === lane);
  if (found === undefined) return null;
  const { session_id, trial_result, reward, firmness, failure_mode, failure_detail } = found;
  return { session_id, trial_result: found.settled ? trial_result : 'unscored', reward, firmness, failure_mode, failure_detail };
}

function exitOf(tasks: readonly CheckedTask[]): number {
  const has = (verdict: CheckedTask['verdict']) => tasks.some((one) => one.verdict === verdict);
  if (has('refused') || tasks.length === 0) return 2;
  if (has('unjudged')) return 3;
  return has('unsound') ? 1 : 0;
}

function checkText(tasks: readonly CheckedTask[], paint: Call['terminal']['paint']): string {
  const color = { sound: paint.green, unsound: paint.red, unjudged: paint.magenta, refused: paint.red };
  const rows = tasks.map((one) => [
    color[one.verdict](one.verdict),
    terminalLine(one.task),
    trialText(one.oracle),
    trialText(one.nop),
    terminalLine(one.why ?? ''),
  ]);
  const wrong = tasks.filter((one) => one.verdict !== 'sound');
  const sessions = wrong.flatMap((one) => [one.oracle, one.nop]).filter((one) => one !== null && one.trial_result !== 'failed');
  const hint = sessions[0] === undefined || sessions[0] === null ? '' : `\nLook closer: proctor sessions show ${sessions[0].session_id}\n`;
  const count = tasks.length - wrong.length;
  return `${table(['verdict', 'task', 'oracle', 'nop', ''], rows, paint.dim)}\n${count} of ${tasks.length} ${tasks.length === 1 ? 'task is' : 'tasks are'} sound: the reference solution passes and doing nothing does not.\n${hint}`;
}

function trialText(trial: Trial | null): string {
  if (trial === null) return '—';
  const firmness = trial.firmness === 'live' || trial.firmness === 'unconfirmed' ? `, ${trial.firmness}` : '';
  return `${trial.trial_result}${trial.reward === null ? '' : ` (${Number(trial.reward.toPrecision(4))})`}${firmness}`;
}
