import type { Progress, TrialLabel } from '../../compositions/progress.ts';
import { terminalLine, truncate } from '../../domain/terminal-text.ts';
import type { Terminal } from '../terminal.ts';
import { liveLines } from './live-lines.ts';
import { LiveRegion } from './live-region.ts';
import { keyOf, Tally } from './tally.ts';
import { endText, MARKS, planLines, STOPPING, totalsText } from './words.ts';

/** Shows an experiment's progress on stderr until it is disposed: live on a terminal, one dated line for each happening elsewhere. */
export interface ProgressWatch extends Disposable {
  take(event: Progress): void;
  /** Takes the live lines away before something else is written. */
  pause(): void;
}

export function watchProgress(terminal: Terminal, now: () => number = Date.now): ProgressWatch {
  return terminal.errIsTty && process.env.TERM !== 'dumb' ? liveWatch(terminal, now) : plainWatch(terminal, now);
}

function liveWatch(terminal: Terminal, now: () => number): ProgressWatch {
  const stream = terminal.rawErr;
  const screen = {
    write: (text: string) => terminal.err(text),
    get columns() {
      return stream.columns || 80;
    },
    get rows() {
      return stream.rows || 24;
    },
  };
  const tally = new Tally();
  const region = new LiveRegion(screen);
  const draw = (lasting: readonly string[] = []) => region.draw(liveLines(tally, now(), screen, terminal.paintErr), lasting);
  const redraw = () => draw();
  const timer = setInterval(redraw, REDRAW_MS);
  timer.unref();
  const giveBack = () => region.close();
  stream.on('resize', redraw);
  process.on('exit', giveBack);
  return {
    take(event) {
      const lasting = lastingLines(event, tally, now(), terminal, screen.columns);
      tally.take(event, now());
      // Phases change often: the next redraw shows them.
      if (event.kind !== 'trial_phase') draw(lasting);
    },
    pause: giveBack,
    [Symbol.dispose]() {
      clearInterval(timer);
      stream.off('resize', redraw);
      process.off('exit', giveBack);
      region.close();
    },
  };
}

function plainWatch(terminal: Terminal, now: () => number): ProgressWatch {
  const tally = new Tally();
  const say = (text: string) => terminal.err(`${clock(now())}  ${text}\n`);
  const timer = setInterval(() => {
    if (tally.running.size > 0) say(totalsText(tally, now(), terminal.paintErr));
  }, HEARTBEAT_MS);
  timer.unref();
  return {
    take(event) {
      const lines = lastingLines(event, tally, now(), terminal, Number.POSITIVE_INFINITY);
      tally.take(event, now());
      if (event.kind === 'trial_started') say(`started  ${trialName(event.trial)}  ${event.session}`);
      for (const line of lines) say(line);
      if (event.kind === 'trial_ended' && tally.ended + tally.reused === tally.total) say(totalsText(tally, now(), terminal.paintErr));
    },
    pause: () => undefined,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** What stays on the screen of one event. Called before the tally takes it. */
function lastingLines(event: Progress, tally: Tally, now: number, terminal: Terminal, columns: number): string[] {
  const paint = terminal.paintErr;
  switch (event.kind) {
    case 'compiled':
      return [
        `${event.tasks} ${event.tasks === 1 ? 'task' : 'tasks'} compiled${event.refused === 0 ? '' : paint.yellow(`, ${event.refused} refused`)}`,
      ];
    case 'planned':
      return planLines(event).map((line) => truncate(line, columns - 1));
    case 'trial_ended': {
      const started = tally.running.get(keyOf(event.trial))?.startedAt ?? null;
      const { trial_result: result } = event.summary;
      const color = { passed: paint.green, failed: paint.red, partial: paint.yellow, unscored: paint.magenta }[result];
      const text = truncate(
        `  ${trialName(event.trial)}  ${endText(event.summary, started === null ? null : now - started)}${event.willRetry ? '; trying again' : ''}`,
        columns - 2,
      );
      return [`${color(event.willRetry ? '↻' : MARKS[result])}${text}`];
    }
    case 'stopping':
      return [paint.yellow(truncate(`${STOPPING[event.reason]}; finished trials are kept`, columns - 1))];
    case 'trial_started':
    case 'trial_phase':
    case 'trial_reused':
      return [];
    default:
      return event satisfies never;
  }
}

function trialName(trial: TrialLabel): string {
  return `${terminalLine(trial.task)} × ${terminalLine(trial.lane)} #${trial.repetition}${trial.attempt > 1 ? ` attempt ${trial.attempt}` : ''}`;
}

function clock(now: number): string {
  const date = new Date(now);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((value) => String(value).padStart(2, '0')).join(':');
}

const REDRAW_MS = 250;
const HEARTBEAT_MS = 60_000;
