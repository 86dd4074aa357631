import type { OutcomeProjection, Projection } from '../domain/session.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import { aligned, localTime } from './columns.ts';

/** A Session read, for a person. */
export function projectionText(one: Projection): string {
  const { created, provisioned } = one;
  const rows: [string, string][] = [
    ['session', one.id],
    ['status', one.stop_reason === null ? one.status : `${one.status} (${one.stop_reason})`],
  ];
  if (created !== null) {
    const label = created.experiment;
    if (created.task !== null) rows.push(['task', `${created.task.name} (${created.task.format}, ${created.task.digest.slice(0, 12)})`]);
    if (label !== null)
      rows.push(['experiment', `${label.name}, lane ${label.lane}, repetition ${label.repetition}, attempt ${label.attempt}`]);
    rows.push(['agent', `${created.agent.name} version ${created.agent.version} (${created.agent.id})`]);
    rows.push(['environment', `${created.environment.name} version ${created.environment.version} (${created.environment.id})`]);
    rows.push(['sandbox', `${created.sandbox.provider}, isolation ${created.sandbox.isolation}, network ${created.sandbox.network}`]);
    if (created.sandbox.not_enforced.length > 0) rows.push(['not enforced', created.sandbox.not_enforced.join(', ')]);
  }
  if (provisioned !== null)
    rows.push(['image', provisioned.image_digest ?? provisioned.image_id ?? 'none'], ['workdir', provisioned.workdir]);
  if (one.pending !== null) rows.push(['waits for', one.pending.kind]);
  rows.push(['runs', String(one.runs)], ['events', String(one.last_seq)], ['last', localTime(one.last_at)]);
  const head = aligned(rows.map(([name, value]) => [name, terminalLine(value)]));
  return head + one.outcomes.map(outcomeText).join('');
}

function outcomeText(outcome: OutcomeProjection): string {
  const rows: [string, string][] = [
    ['result', outcome.result === null ? 'not settled' : `${outcome.result}${outcome.reason === null ? '' : ` (${outcome.reason})`}`],
    ['verdict', outcome.verdict ?? '—'],
    ['reward', outcome.reward === null ? '—' : String(outcome.reward)],
    ['iteration', `${outcome.iteration} of ${outcome.max_iterations}`],
    ...outcome.deliverables.map((one): [string, string] => [
      'deliverable',
      `${one.path}: ${one.state}${one.reason === undefined ? '' : ` (${one.reason})`}`,
    ]),
  ];
  return `\noutcome ${outcome.id}\n${aligned(
    rows.map(([name, value]) => [name, terminalLine(value)]),
    '  ',
  )}`;
}
