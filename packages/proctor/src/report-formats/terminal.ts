import type { LaneReport, Report } from '../domain/report-schema.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import type { ReportFormat } from '../report-format.ts';
import { type Palette, paletteOf } from './palette.ts';
import { matrixLines, problemLines, sessionTime } from './terminal-tasks.ts';
import { type Column, textTable } from './text-table.ts';
import {
  boundText,
  cautions,
  comparisonText,
  decimal,
  headline,
  MISSING,
  measurementRows,
  methodText,
  number,
  percent,
  plural,
  usageText,
} from './wording.ts';
import { wrap } from './wrap.ts';

/** The report for a person at a terminal: the verdict first, then what to doubt, then what happened. */
export const terminal: ReportFormat = {
  summary: 'for a terminal: aligned, few colours',
  extension: 'txt',
  render(report, { color, columns, timeZone }) {
    const page: Page = { report, paint: paletteOf(color), columns: Math.max(40, columns), timeZone };
    const parts = [
      heads(page),
      about(page),
      doubts(page),
      lanes(page),
      comparisons(page),
      matrixLines(page),
      measurements(page),
      problemLines(page),
      tools(page),
      exit(page),
    ];
    return `${parts
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join('\n'))
      .join('\n\n')}\n`;
  },
};

export type Page = { report: Report; paint: Palette; columns: number; timeZone: 'utc' | 'local' };

function heads({ report, paint, columns }: Page): string[] {
  const several = report.lanes.length > 1;
  const lines = report.lanes.flatMap((lane) => {
    const text = `${several ? `${terminalLine(lane.lane)}: ` : ''}${headline(lane)}`;
    return wrap(text, columns).map((line) => paint.strong(verdictPaint(lane, paint)(line)));
  });
  const refused = report.refused.length > 0 ? ` · ${plural(report.refused.length, 'task')} refused` : '';
  return lines.length > 0 ? lines : [paint.strong(paint.odd(`no Session to report on${refused}`))];
}

function verdictPaint({ trials }: LaneReport, paint: Palette): (text: string) => string {
  if (trials.scored < trials.all) return paint.odd;
  return trials.passed === trials.all ? paint.good : paint.bad;
}

function about({ report, paint, columns, timeZone }: Page): string[] {
  const { verdicts, results } = report;
  const facts = [
    terminalLine(report.title),
    report.experiment === null || report.experiment === report.title ? '' : `experiment ${terminalLine(report.experiment)}`,
    sessionTime(report.generated_at, timeZone),
    boundText(report.max_iterations),
  ];
  const verdict = `verdicts: ${number(verdicts.satisfied)} satisfied · ${number(verdicts.needs_revision)} needs_revision · ${number(verdicts.grading_failure)} grading failure · ${number(verdicts.none)} none`;
  const result = `results: ${number(results.satisfied)} satisfied · ${number(results.max_iterations_reached)} max_iterations_reached · ${number(results.failed)} failed · ${number(results.interrupted)} interrupted · ${number(results.none)} none`;
  const first = facts.filter((fact) => fact !== '').join(' · ');
  return [...wrap(first, columns).map(paint.dim), ...wrap(verdict, columns), ...wrap(result, columns)];
}

function doubts({ report, paint, columns }: Page): string[] {
  return cautions(report).flatMap((text) => wrap(`! ${terminalLine(text)}`, columns).map((line) => paint.odd(line)));
}

function lanes({ report, paint, columns }: Page): string[] {
  if (report.lanes.length === 0) return [];
  const header: Column[] = [
    { title: 'lane' },
    { title: 'agent' },
    { title: 'interval', align: 'right' },
    { title: 'partial', align: 'right' },
    { title: 'infra', align: 'right' },
    { title: 'bound', align: 'right' },
  ];
  const rows = report.lanes.map((lane) => [
    terminalLine(lane.lane),
    lane.agent === null ? MISSING : terminalLine(`${lane.agent.name} v${lane.agent.version}`),
    methodText(lane.scored),
    number(lane.trials.partial),
    number(lane.infrastructure.failures),
    lane.max_iterations.join(',') || MISSING,
  ]);
  const look = { columns, indent: 2, dim: paint.dim };
  const lines = textTable(header, rows, look);
  for (const lane of report.lanes) {
    const check = lane.scored.interval?.bootstrap;
    if (check == null) continue;
    const text = `  ${terminalLine(lane.lane)} cross-check, bootstrap over ${plural(lane.scored.tasks, 'task')}: [${(check.low * 100).toFixed(1)}, ${(check.high * 100).toFixed(1)}]`;
    lines.push(...wrap(text, columns).map(paint.dim));
  }
  const ks = report.lanes.flatMap((lane) =>
    lane.pass_at_k.map((entry) => [
      terminalLine(lane.lane),
      String(entry.k),
      percent(entry.pass_at_k),
      percent(entry.pass_hat_k),
      number(entry.tasks),
    ]),
  );
  if (!ks.some(([, k]) => k !== '1')) return [paint.strong('Lanes'), ...lines];
  const kHeader: Column[] = [
    { title: 'lane' },
    ...['k', 'pass@k (any)', 'pass^k (all)', 'tasks'].map((title): Column => ({ title, align: 'right' })),
  ];
  return [paint.strong('Lanes'), ...lines, '', ...textTable(kHeader, ks, look)];
}

function comparisons({ report, paint, columns }: Page): string[] {
  if (report.comparisons.length === 0) return [];
  const lines = report.comparisons.flatMap((comparison) => [
    ...wrap(`  ${terminalLine(comparisonText(comparison))}`, columns),
    ...(comparison.status === 'compared'
      ? wrap(
          `    fixed ${comparison.fixed.length}${names(comparison.fixed)} · broken ${comparison.broken.length}${names(comparison.broken)} · same ${comparison.same} · not comparable ${comparison.not_comparable.length}${names(comparison.not_comparable)}`,
          columns,
        )
      : []),
    ...wrapped(usageText(comparison), columns),
    ...(comparison.minimum_detectable_difference === null
      ? []
      : wrap(
          `    with ${plural(comparison.tasks, 'task')}, differences under ${(comparison.minimum_detectable_difference * 100).toFixed(1)} points mostly go unseen`,
          columns,
        ).map(paint.dim)),
  ]);
  return [paint.strong('Comparison, paired by task'), ...lines];
}

function wrapped(text: string | null, columns: number): string[] {
  return text === null ? [] : wrap(`    ${text}`, columns);
}

function names(tasks: readonly string[]): string {
  if (tasks.length === 0) return '';
  const shown = tasks.slice(0, 5).map(terminalLine).join(', ');
  return ` (${shown}${tasks.length > 5 ? `, and ${tasks.length - 5} more` : ''})`;
}

function measurements({ report, paint, columns }: Page): string[] {
  const rows = measurementRows(report).filter((row) => row.total !== MISSING);
  const missing = measurementRows(report).filter((row) => row.total === MISSING);
  if (rows.length === 0) return [];
  const header = [
    { title: 'measured' },
    { title: 'mean', align: 'right' },
    { title: 'total', align: 'right' },
    { title: 'of Sessions', align: 'right' },
  ] as const;
  const lines = textTable(
    header,
    rows.map((row) => [row.name, row.mean, row.total, row.n]),
    { columns, indent: 2, dim: paint.dim },
  );
  if (missing.length > 0)
    lines.push(...wrap(`  ${MISSING} not recorded: ${missing.map((row) => row.name).join(', ')}`, columns).map(paint.dim));
  return [paint.strong('Measurements'), ...lines];
}

function tools({ report, paint, columns }: Page): string[] {
  if (report.tools.length === 0) return [];
  const shown = report.tools.slice(0, 10);
  const header = [
    { title: 'tool', max: 40 },
    { title: 'calls', align: 'right' },
    { title: 'Sessions', align: 'right' },
    { title: 'per Session', align: 'right' },
  ] as const;
  const rows = shown.map((tool) => [
    terminalLine(tool.tool),
    number(tool.calls),
    number(tool.sessions),
    decimal(tool.calls / tool.sessions),
  ]);
  const rest = report.tools.length - shown.length;
  return [
    paint.strong('Tools'),
    ...textTable(header, rows, { columns, indent: 2, dim: paint.dim }),
    ...(rest > 0 ? [paint.dim(`  and ${plural(rest, 'more tool')}`)] : []),
  ];
}

function exit({ report, paint, columns }: Page): string[] {
  const { code, reasons } = report.exit;
  const text = `exit ${code}${reasons.length === 0 ? ': every verdict is satisfied' : `: ${reasons.join('; ')}`}`;
  return wrap(text, columns).map(code === 0 ? paint.good : paint.dim);
}
