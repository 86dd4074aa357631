import type { Progress, TrialPhase } from '../../compositions/progress.ts';
import type { SessionSummary } from '../../domain/summary.ts';
import { terminalLine } from '../../domain/terminal-text.ts';
import { spell } from '../columns.ts';
import type { Colors } from '../terminal.ts';
import type { Planned, Tally } from './tally.ts';

/** What a running trial is doing or waiting for. */
export const PHASES: Readonly<Record<TrialPhase, string>> = {
  admission: 'waiting for room on this host',
  image: 'waiting for the image',
  provision: 'starting the sandbox',
  agent_setup: 'setting up the agent',
  agent: 'agent at work',
  verifier: 'verifying',
  settling: 'settling',
};

export const MARKS = { passed: '✓', failed: '✗', partial: '◐', unscored: '?' } as const;

/** `failed, reward 0, 4.2 s` or `unscored (infrastructure): image not found, 1.2 s` */
export function endText(summary: SessionSummary, elapsedMs: number | null): string {
  const why = summary.trial_result === 'unscored' ? (summary.failure_detail ?? summary.failure_mode) : summary.failure_mode;
  const attribution = summary.attribution === null || summary.trial_result === 'passed' ? '' : ` (${summary.attribution})`;
  return [
    `${summary.trial_result}${attribution}${why === null || summary.trial_result === 'passed' ? '' : `: ${terminalLine(why)}`}`,
    summary.reward === null ? null : `reward ${shortNumber(summary.reward)}`,
    summary.firmness === 'live' || summary.firmness === 'unconfirmed' ? `verdict ${summary.firmness}` : null,
    elapsedMs === null ? null : spell(roundToTenth(elapsedMs)),
  ]
    .filter((one) => one !== null)
    .join(', ');
}

export function totalsText(tally: Tally, now: number, paint: Colors): string {
  const { passed, failed, partial, unscored } = tally.results;
  const remaining = tally.remainingMs(now);
  const done = tally.ended + tally.reused;
  return [
    `${done} of ${tally.total ?? '?'} trials`,
    passed === 0 ? null : paint.green(`${passed} passed`),
    failed === 0 ? null : paint.red(`${failed} failed`),
    partial === 0 ? null : paint.yellow(`${partial} partial`),
    unscored === 0 ? null : paint.magenta(`${unscored} unscored`),
    tally.reused === 0 ? null : `${tally.reused} reused`,
    tally.running.size === 0 ? null : `${tally.running.size} running`,
    spell(wholeSeconds(tally.elapsedMs(now))),
    remaining === null ? null : `about ${spell(wholeSeconds(remaining))} left`,
    tally.stopping === null ? null : paint.yellow(STOPPING[tally.stopping]),
  ]
    .filter((one) => one !== null)
    .join(' · ');
}

export function planLines(planned: Planned): string[] {
  const lanes = planned.lanes.map(terminalLine).join(', ');
  const first = `${planned.trials} ${planned.trials === 1 ? 'trial' : 'trials'} to run (${lanes}), ${planned.concurrency} at once, experiment ${terminalLine(planned.experiment)}`;
  const reused =
    planned.reused === 0
      ? []
      : [
          `reused ${planned.reused} ${planned.reused === 1 ? 'trial' : 'trials'}${planned.reusedFrom === null ? '' : ` of ${dayText(planned.reusedFrom)}`}; --fresh runs them again`,
        ];
  return [first, ...reused, ...planned.notes.map((note) => `note: ${terminalLine(note)}`)];
}

/** `3 November`, with the year when it is another one. */
function dayText(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return terminalLine(at);
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return `${date.getDate()} ${MONTHS[date.getMonth()]}${isThisYear ? '' : ` ${date.getFullYear()}`}`;
}

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

export const STOPPING: Readonly<Record<Extract<Progress, { kind: 'stopping' }>['reason'], string>> = {
  interrupted: 'stopping: interrupted',
  fail_fast: 'stopping: every trial failed for want of infrastructure',
  disk: 'stopping: the disk is nearly full',
};

export function wholeSeconds(milliseconds: number): number {
  return Math.round(milliseconds / 1000) * 1000;
}

function roundToTenth(milliseconds: number): number {
  return milliseconds < 1000 ? milliseconds : Math.round(milliseconds / 100) * 100;
}

function shortNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
}
