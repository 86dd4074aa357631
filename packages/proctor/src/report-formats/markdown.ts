import { formatIssue } from '../domain/issue.ts';
import type { Report, TaskReport } from '../domain/report-schema.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import type { ReportFormat } from '../report-format.ts';
import {
  boundText,
  cautions,
  comparisonText,
  headline,
  MISSING,
  measurementRows,
  methodText,
  number,
  percent,
  plural,
  pText,
  RESULT_MARKS,
  rateText,
  trialNames,
  usageText,
} from './wording.ts';

/** For a pull request or a page: tables, every word of an agent or task escaped. */
export const markdown: ReportFormat = {
  summary: 'Markdown tables, for pull requests and pages',
  extension: 'md',
  render(report) {
    const parts = [
      head(report),
      doubts(report),
      lanes(report),
      comparisons(report),
      tasks(report),
      failures(report),
      measurements(report),
      tools(report),
      problems(report),
      sessions(report),
    ];
    return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
  },
};

function head(report: Report): string {
  const { verdicts, results, exit } = report;
  const several = report.lanes.length > 1;
  const lines = report.lanes.map((lane) => `**${several ? `${plain(lane.lane)}: ` : ''}${plain(headline(lane))}**`);
  const count = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, value]) => `${number(value)} ${plain(name)}`)
      .join(', ');
  return [
    `# ${plain(report.title)}`,
    ...(lines.length > 0 ? lines : ['**No Session to report on.**']),
    [
      `- ${plain(report.generated_at)}${report.experiment === null ? '' : ` · experiment ${plain(report.experiment)}`} · ${plain(boundText(report.max_iterations))}`,
      `- Last verdicts: ${count(verdicts)}`,
      `- Results: ${count(results)}`,
      `- Exit ${exit.code}${exit.reasons.length === 0 ? '' : `: ${plain(exit.reasons.join('; '))}`}`,
    ].join('\n'),
  ].join('\n\n');
}

function doubts(report: Report): string {
  const said = cautions(report);
  return said.length === 0 ? '' : `> [!WARNING]\n${said.map((text) => `> - ${plain(text)}`).join('\n')}`;
}

function lanes(report: Report): string {
  if (report.lanes.length === 0) return '';
  const rows = report.lanes.map((lane) => [
    plain(lane.lane),
    plain(lane.agent === null ? MISSING : `${lane.agent.name} v${lane.agent.version}`),
    `${number(lane.scored.passed)} of ${number(lane.scored.trials)}`,
    rateText(lane.scored),
    methodText(lane.scored),
    `${number(lane.all.passed)} of ${number(lane.all.trials)}`,
    rateText(lane.all),
    number(lane.trials.partial),
    number(lane.trials.unscored),
  ]);
  const table = tableOf(
    ['lane', 'agent', 'passed of scored', 'rate of scored', 'interval', 'passed of all', 'rate of all', 'partial', 'unscored'],
    rows,
  );
  const ks = report.lanes.flatMap((lane) =>
    lane.pass_at_k.map(({ k, pass_at_k, pass_hat_k, tasks: n }) => [
      plain(lane.lane),
      String(k),
      percent(pass_at_k),
      percent(pass_hat_k),
      number(n),
    ]),
  );
  const repeated = ks.some(([, k]) => k !== '1') ? `\n\n${tableOf(['lane', 'k', 'pass@k', 'pass^k', 'tasks'], ks)}` : '';
  return `## Lanes\n\n${table}${repeated}`;
}

function comparisons(report: Report): string {
  if (report.comparisons.length === 0) return '';
  const lines = report.comparisons.map((comparison) => {
    const flips = (name: string, list: readonly string[]) => (list.length === 0 ? '' : `\n  - ${name}: ${list.map(plain).join(', ')}`);
    const tests = comparison.mcnemar === null ? '' : `\n  - McNemar exact p ${pText(comparison.mcnemar.p)}`;
    const sign = comparison.sign_flip === null ? '' : `\n  - sign-flip p ${pText(comparison.sign_flip.p)}`;
    const usage = usageText(comparison) === null ? '' : `\n  - ${plain(usageText(comparison) ?? '')}`;
    return `- ${plain(comparisonText(comparison))}${flips('fixed', comparison.fixed)}${flips('broken', comparison.broken)}${flips('not comparable', comparison.not_comparable)}${tests}${sign}${usage}`;
  });
  return `## Comparison, paired by task\n\n${lines.join('\n')}`;
}

function tasks(report: Report): string {
  if (report.tasks.length === 0) return '';
  const labels = report.lanes.map((lane) => lane.lane);
  const rows = report.tasks.map((task) => [
    plain(task.task),
    ...labels.map((lane) => cells(task, lane)),
    plain([task.flaky ? 'flaky' : '', ...task.suspect.map((reason) => `suspect: ${reason}`)].filter((note) => note !== '').join('; ')),
  ]);
  const legend = Object.entries(RESULT_MARKS).map(([name, mark]) => `${mark} ${name.replace('_', ' ')}`);
  return `## Tasks\n\n${tableOf(['task', ...labels.map(plain), 'note'], rows)}\n\n${legend.join(' · ')}`;
}

function cells(task: TaskReport, lane: string): string {
  const own = task.lanes.find((entry) => entry.lane === lane);
  return own === undefined ? MISSING : `${own.trials.map((trial) => RESULT_MARKS[trial.result]).join('')} ${own.passed}/${own.scored}`;
}

function failures(report: Report): string {
  if (report.failure_modes.length === 0) return '';
  return `## Why trials did not pass\n\n${tableOf(
    ['mode', 'trials', ''],
    report.failure_modes.map(({ mode, count, sentence }) => [plain(mode), number(count), plain(sentence)]),
  )}`;
}

function measurements(report: Report): string {
  if (report.sessions.length === 0) return '';
  return `## Measurements\n\n${tableOf(
    ['measured', 'mean', 'total', 'Sessions'],
    measurementRows(report).map((row) => [row.name, plain(row.mean), plain(row.total), row.n]),
  )}`;
}

function tools(report: Report): string {
  if (report.tools.length === 0) return '';
  return `## Tools\n\n${tableOf(
    ['tool', 'calls', 'Sessions'],
    report.tools.map((tool) => [plain(tool.tool), number(tool.calls), number(tool.sessions)]),
  )}`;
}

function problems(report: Report): string {
  const refused = report.refused.map(
    ({ task, path, issues }) =>
      `- ${plain(task)} (${plain(path)})\n${issues.map((issue) => `  - ${plain(formatIssue(issue as never))}`).join('\n')}`,
  );
  const superseded = report.superseded.map(
    (session) =>
      `- ${trialNames(session, report).map(plain).join(', ')}: attempt ${session.attempt ?? MISSING}, ${plain(session.session_id)}, ${plain(session.failure_mode ?? session.trial_result)}`,
  );
  const sections = [
    refused.length === 0 ? '' : `## ${plural(refused.length, 'refused task')}\n\n${refused.join('\n')}`,
    superseded.length === 0 ? '' : `## ${plural(superseded.length, 'superseded attempt')}\n\n${superseded.join('\n')}`,
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function sessions(report: Report): string {
  if (report.sessions.length === 0) return '';
  const rows = report.sessions.map((session) => [
    plain(session.session_id),
    plain(session.task ?? MISSING),
    plain(session.lane ?? MISSING),
    session.repetition === null ? MISSING : String(session.repetition),
    session.settled ? session.trial_result : 'unsettled',
    session.reward === null ? MISSING : String(session.reward),
    session.verdict_seq === null ? `none in ${number(session.events_examined)} events` : `event ${session.verdict_seq}`,
    session.firmness ?? MISSING,
  ]);
  return `<details><summary>${plural(rows.length, 'Session')}</summary>\n\n${tableOf(['Session', 'task', 'lane', 'repetition', 'result', 'reward', 'verdict', 'firmness'], rows)}\n\n</details>`;
}

function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** No word of an agent or task starts markup, a link, a mention, raw HTML or a new cell. */
function plain(text: string): string {
  return terminalLine(text)
    .replace(/[\\`*_{}[\]()#+!|~>$^-]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/@(?=\w)/g, '@<!-- -->')
    .replace(/(https?|ftp)(?=:)/gi, '$1<!-- -->')
    .replace(/www(?=\.)/gi, 'www<!-- -->');
}
