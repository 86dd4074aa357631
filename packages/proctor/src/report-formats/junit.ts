import { explainFailure } from '../domain/failure-modes.ts';
import type { Report } from '../domain/report-schema.ts';
import { laneOf, taskOf } from '../domain/report-trials.ts';
import type { SessionSummary } from '../domain/session-summary.ts';
import { replaceActing } from '../domain/terminal-text.ts';
import type { ReportFormat } from '../report-format.ts';
import { rateText } from './wording.ts';

/**
 * One suite per lane, one case per trial. A trial that was judged and did not pass is a `failure`; one that could not be judged is an `error`,
 * for it says nothing of the agent; one that was cancelled, has not ended or was never started is `skipped`, for nobody has judged it yet.
 */
export const junit: ReportFormat = {
  summary: 'JUnit XML, for CI: failed trials are failures, unscored ones errors',
  extension: 'xml',
  render(report) {
    const suites = report.lanes.map((lane) => suite(lane.lane, report));
    if (report.refused.length > 0) suites.push(refusedSuite(report));
    return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${attribute(report.title)}">\n${suites.join('')}</testsuites>\n`;
  },
};

type Case = { xml: string; kind: 'passed' | 'failure' | 'error' | 'skipped'; seconds: number | null };

function suite(lane: string, report: Report): string {
  const sessions = new Map(report.sessions.map((session) => [session.session_id, session]));
  const cases: Case[] = [];
  for (const task of report.tasks) {
    for (const trial of task.lanes.find((entry) => entry.lane === lane)?.trials ?? []) {
      const session = trial.session_id === null ? undefined : sessions.get(trial.session_id);
      cases.push(session === undefined ? unstarted(task.task, trial.repetition, lane) : caseOf(session, report));
    }
  }
  const rate = report.lanes.find((entry) => entry.lane === lane)?.scored;
  const properties =
    rate === undefined
      ? ''
      : `    <properties>\n      <property name="scored_rate" value="${attribute(rateText(rate))}"/>\n    </properties>\n`;
  return suiteXml(lane, report.generated_at, cases, properties);
}

function suiteXml(name: string, at: string, cases: readonly Case[], properties: string): string {
  const count = (kind: Case['kind']) => cases.filter((one) => one.kind === kind).length;
  const seconds = cases.reduce((total, one) => total + (one.seconds ?? 0), 0);
  const head = `name="${attribute(name)}" tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`;
  return `  <testsuite ${head} time="${seconds.toFixed(3)}" timestamp="${attribute(at.slice(0, 19))}">\n${properties}${cases.map((one) => one.xml).join('')}  </testsuite>\n`;
}

function caseOf(session: SessionSummary, report: Report): Case {
  const kind = kindOf(session);
  const repeated =
    (report.tasks.find((task) => task.task === taskOf(session))?.lanes.find((lane) => lane.lane === laneOf(session))?.trials.length ?? 1) >
    1;
  const name = repeated && session.repetition !== null ? `${taskOf(session)} [${session.repetition}]` : taskOf(session);
  const seconds = session.active_ms === null ? null : session.active_ms / 1000;
  const time = seconds === null ? '' : ` time="${seconds.toFixed(3)}"`;
  const open = `    <testcase classname="${attribute(laneOf(session))}" name="${attribute(name)}"${time}>\n`;
  return {
    kind,
    seconds,
    xml: `${open}${outcome(kind, session)}      <system-out>${content(account(session))}</system-out>\n    </testcase>\n`,
  };
}

function kindOf(session: SessionSummary): Case['kind'] {
  if (session.trial_result === 'passed') return 'passed';
  if (session.trial_result !== 'unscored') return 'failure';
  return !session.settled || session.attribution === 'cancelled' ? 'skipped' : 'error';
}

function outcome(kind: Case['kind'], session: SessionSummary): string {
  if (kind === 'passed') return '';
  const mode = session.failure_mode ?? session.trial_result;
  const message = `message="${attribute(explainFailure(mode))}"`;
  if (kind === 'skipped') return `      <skipped ${message}/>\n`;
  const detail = [session.failure_detail ?? '', ...(session.tests?.failed ?? []).map((test) => `failed: ${test}`)]
    .filter((line) => line !== '')
    .join('\n');
  return `      <${kind} type="${attribute(mode)}" ${message}>${content(detail)}</${kind}>\n`;
}

function account(session: SessionSummary): string {
  const verdict =
    session.verdict_seq === null
      ? `no verdict in ${session.events_examined} events`
      : `verdict ${session.verdict} at event ${session.verdict_seq}`;
  const facts = [
    `session ${session.session_id}`,
    verdict,
    `reward ${session.reward ?? '—'}`,
    `firmness ${session.firmness ?? '—'}`,
    `attribution ${session.attribution ?? '—'}`,
  ];
  return facts.join('\n');
}

function unstarted(task: string, repetition: number | null, lane: string): Case {
  const name = repetition === null ? task : `${task} [${repetition}]`;
  return {
    kind: 'skipped',
    seconds: null,
    xml: `    <testcase classname="${attribute(lane)}" name="${attribute(name)}">\n      <skipped message="planned, never started"/>\n    </testcase>\n`,
  };
}

function refusedSuite(report: Report): string {
  const cases = report.refused.map(({ task, path, issues }): Case => {
    const said = issues.map((issue) => `${issue.path}: ${issue.message}`).join('\n');
    const xml = `    <testcase classname="refused" name="${attribute(task)}" file="${attribute(path)}">\n      <error type="invalid_task" message="The task did not compile.">${content(said)}</error>\n    </testcase>\n`;
    return { kind: 'error', seconds: null, xml };
  });
  return suiteXml('refused', report.generated_at, cases, '');
}

/** Characters that XML 1.0 does not allow even as references are replaced; those it allows but a terminal acts on become references. */
function content(text: string): string {
  const escaped = text.toWellFormed().replace(FORBIDDEN, '\ufffd').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return replaceActing(escaped, (found) => (found === '\n' || found === '\t' ? found : reference(found)));
}

function attribute(text: string): string {
  return content(text)
    .replaceAll('"', '&quot;')
    .replace(/[\t\n]/g, reference);
}

function reference(character: string): string {
  return `&#x${(character.codePointAt(0) ?? 0).toString(16)};`;
}

/** C0 but tab, line feed and carriage return; and every noncharacter, since some parsers refuse those of the other planes too. */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]|\p{Noncharacter_Code_Point}/gu;
