import { explainFailure } from '../domain/failure-modes.ts';
import { formatIssue } from '../domain/issue.ts';
import type { TaskReport } from '../domain/report-schema.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import type { Palette } from './palette.ts';
import type { Page } from './terminal.ts';
import { type Cell, textTable } from './text-table.ts';
import { MISSING, plural, RESULT_MARKS, trialNames } from './wording.ts';
import { wrap } from './wrap.ts';

/** More tasks than this are listed only where there is something to look at. */
const WHOLE_MATRIX = 60;

export function matrixLines({ report, paint, columns }: Page): string[] {
  if (report.tasks.length === 0) return [];
  const few = report.tasks.length <= WHOLE_MATRIX;
  const shown = few
    ? report.tasks
    : report.tasks.filter((task) => task.flaky || task.suspect.length > 0 || task.lanes.some((lane) => lane.passed < lane.trials.length));
  const lanes = report.lanes.map((lane) => lane.lane);
  const header = [
    { title: 'task', max: Math.floor(columns / 2) },
    ...lanes.map((lane) => ({ title: terminalLine(lane), max: 40 })),
    { title: '' },
  ];
  const rows = shown.map((task) => [
    terminalLine(task.task),
    ...lanes.map((lane) => matrixCell(task, lane, paint)),
    { text: notes(task), paint: paint.odd },
  ]);
  const legend = Object.entries(RESULT_MARKS)
    .map(([result, mark]) => `${mark} ${result.replace('_', ' ')}`)
    .join('  ');
  const hidden = report.tasks.length - shown.length;
  return [
    paint.strong('Tasks'),
    ...textTable(header, rows, { columns, indent: 2, dim: paint.dim }),
    ...wrap(`  ${legend}`, columns).map(paint.dim),
    ...(hidden > 0 ? [paint.dim(`  and ${plural(hidden, 'task')} that every trial passed`)] : []),
  ];
}

function matrixCell(task: TaskReport, lane: string, paint: Palette): Cell {
  const own = task.lanes.find((entry) => entry.lane === lane);
  if (own === undefined) return MISSING;
  const text = own.trials.map((trial) => RESULT_MARKS[trial.result]).join('');
  return {
    text: `${text} ${own.passed}/${own.scored}`,
    paint: own.passed === own.trials.length ? paint.good : own.scored < own.trials.length ? paint.odd : paint.bad,
  };
}

function notes(task: TaskReport): string {
  const firmness = new Set(task.lanes.flatMap((lane) => lane.trials.map((trial) => trial.firmness)));
  const found = [
    task.flaky ? 'flaky' : '',
    ...task.suspect.map((reason) => `suspect: ${reason}`),
    ...(['live', 'unconfirmed'] as const).filter((name) => firmness.has(name)),
  ];
  return found.filter((note) => note !== '').join('; ');
}

/** Sessions named of each failure mode. */
const SHOWN = 3;

/** Why trials did not pass, which tasks were refused, which attempts were repeated. */
export function problemLines({ report, paint, columns }: Page): string[] {
  const lines: string[] = [];
  for (const { mode, count } of report.failure_modes) {
    lines.push(...wrap(`  ${count} × ${terminalLine(mode)}: ${terminalLine(explainFailure(mode))}`, columns));
    for (const session of report.sessions.filter((one) => one.failure_mode === mode).slice(0, SHOWN)) {
      const verdict =
        session.verdict_seq === null
          ? `${plural(session.events_examined, 'event')}, no verdict`
          : `verdict at event ${session.verdict_seq}`;
      const detail = session.failure_detail === null ? '' : `: ${terminalLine(session.failure_detail)}`;
      const text = `${trialNames(session, report).map(terminalLine).join(', ')} · ${session.session_id} (${verdict})${detail}`;
      lines.push(...wrap(`    ${text}`, columns).slice(0, 3).map(paint.dim));
    }
    if (count > SHOWN) lines.push(paint.dim(`    and ${count - SHOWN} more`));
  }
  for (const { task, path, issues } of report.refused) {
    lines.push(...wrap(`  refused: ${terminalLine(task)} (${terminalLine(path)})`, columns));
    for (const issue of issues.slice(0, 5)) lines.push(...wrap(`    ${terminalLine(formatIssue(issue as never))}`, columns).map(paint.dim));
  }
  for (const session of report.superseded) {
    lines.push(
      ...wrap(
        `  superseded: attempt ${session.attempt ?? MISSING} of ${trialNames(session, report).map(terminalLine).join(', ')} · ${session.session_id} (${session.failure_mode ?? session.trial_result})`,
        columns,
      ),
    );
  }
  return lines.length === 0 ? [] : [paint.strong('What went wrong'), ...lines];
}

/** RFC 3339 in, minutes out; the zone is named. */
export function sessionTime(at: string, timeZone: 'utc' | 'local'): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return terminalLine(at);
  if (timeZone === 'utc') return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
