import { cellWidth, pad, terminalLine, truncate } from '../../domain/terminal-text.ts';
import { spell } from '../columns.ts';
import type { Colors } from '../terminal.ts';
import type { RunningTrial, Tally } from './tally.ts';
import { PHASES, totalsText, wholeSeconds } from './words.ts';

/** The live region: one line for each running trial that fits, then totals. No line is wider than `columns - 1`. */
export function liveLines(tally: Tally, now: number, size: { columns: number; rows: number }, paint: Colors): string[] {
  const width = Math.max(10, size.columns - 1);
  const running = [...tally.running.values()];
  const room = Math.max(1, size.rows - 4);
  const shown = running.length > room ? running.slice(0, room - 1) : running;
  const names = shown.map(nameOf);
  const columns = columnWidths(width, names, shown);
  const lines = shown.map((one, index) => {
    const name = names[index] ?? ['', ''];
    return width < NARROW_CELLS ? truncate(`${name[0]} ${PHASES[one.phase]}`, width) : trialLine(one, name, columns, now, paint);
  });
  if (shown.length < running.length) lines.push(paint.dim(truncate(`  … and ${running.length - shown.length} more`, width)));
  return [...lines, totalsLine(tally, now, width, paint)];
}

type Widths = { task: number; lane: number; doing: number; elapsed: number };

function trialLine(one: RunningTrial, [task, lane]: [string, string], widths: Widths, now: number, paint: Colors): string {
  const doing = `${PHASES[one.phase]}${one.detail === null ? '' : `: ${terminalLine(one.detail)}`}`;
  const elapsed = spell(wholeSeconds(Math.max(0, now - one.startedAt))).padStart(widths.elapsed);
  return `${paint.cyan(FRAMES[Math.floor(now / 250) % FRAMES.length] ?? '')} ${fit(task, widths.task)}  ${fit(lane, widths.lane)}  ${paint.dim(fit(doing, widths.doing))} ${elapsed}`;
}

/** Names get what they need up to their share of the line; what a trial does gets the rest. */
function columnWidths(width: number, names: readonly [string, string][], shown: readonly RunningTrial[]): Widths {
  const elapsed = shown.length === 0 ? 0 : ELAPSED_CELLS;
  const room = Math.max(6, width - elapsed - 7);
  const task = Math.min(Math.max(1, ...names.map(([name]) => cellWidth(name))), Math.floor(room * 0.4));
  const lane = Math.min(Math.max(1, ...names.map(([, name]) => cellWidth(name))), Math.floor(room * 0.25));
  return { task, lane, doing: Math.max(1, room - task - lane), elapsed };
}

function nameOf(one: RunningTrial): [string, string] {
  const { trial } = one;
  return [
    terminalLine(trial.task),
    `${terminalLine(trial.lane)} #${trial.repetition}${trial.attempt > 1 ? ` attempt ${trial.attempt}` : ''}`,
  ];
}

/** Parts from the right give way on a narrow terminal. */
function totalsLine(tally: Tally, now: number, width: number, paint: Colors): string {
  const parts = totalsText(tally, now, paint).split(' · ');
  while (parts.length > 1 && cellWidth(parts.join(' · ')) > width) parts.pop();
  return parts.length === 1 ? truncate((parts[0] ?? '').replace(/\u001b\[[0-9;]*m/g, ''), width) : parts.join(' · ');
}

const FRAMES = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'];
const ELAPSED_CELLS = 12;
/** Below this, columns would only be ellipses. */
const NARROW_CELLS = 38;

function fit(text: string, columns: number): string {
  return pad(truncate(text, columns), columns);
}
