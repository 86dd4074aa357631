import type { Comparison, LaneReport, Measurement, Rate, Report } from '../domain/report-schema.ts';
import type { SessionSummary } from '../domain/summary.ts';

/** What tells a trial from the others of its report: task, lane and repetition, as far as they are known. */
export function trialNames(
  session: Pick<SessionSummary, 'session_id' | 'task' | 'lane' | 'repetition'>,
  { lanes }: Pick<Report, 'lanes'>,
): string[] {
  const lane = lanes.length > 1 ? session.lane : null;
  const repetition = session.repetition === null ? null : `repetition ${session.repetition}`;
  return [session.task ?? session.session_id, lane, repetition].filter((part) => part !== null);
}

/** Missing is never 0. */
export const MISSING = '—';

/** `80.0 %` */
export function percent(share: number | null): string {
  return share === null ? MISSING : `${(share * 100).toFixed(1)} %`;
}

/** `80.0 % [54.8, 93.0]` */
export function rateText(rate: Rate): string {
  const { interval } = rate;
  if (rate.rate === null || interval === null) return MISSING;
  const bounds = `[${(interval.low * 100).toFixed(1)}, ${(interval.high * 100).toFixed(1)}]`;
  const same = Math.abs(interval.estimate - rate.rate) < 5e-4;
  return same ? `${percent(rate.rate)} ${bounds}` : `${percent(rate.rate)} (mean of tasks ${percent(interval.estimate)} ${bounds})`;
}

/** `Wilson 95 %`, `clustered t 95 %`, with the mark where there is one. */
export function methodText(rate: Rate): string {
  const { interval } = rate;
  if (interval === null) return MISSING;
  const methods = { wilson: 'Wilson', wilson_over_tasks: 'Wilson over tasks', clustered_t: 'clustered t' } as const;
  const level = `${Math.round(interval.level * 100)} %`;
  return `${methods[interval.method]} ${level}${interval.mark === null ? '' : `, ${interval.mark}`}`;
}

/** The verdict a person needs, in one line for one lane. */
export function headline(lane: LaneReport): string {
  const { scored, all, trials } = lane;
  if (scored.trials === 0) return `no scored trial of ${number(trials.all)} · no rate${unscoredText(lane)}`;
  return `${number(scored.passed)} of ${number(scored.trials)} passed · ${rateText(scored)} of scored, ${rateText(all)} of all ${number(all.trials)}${unscoredText(lane)}`;
}

function unscoredText({ trials }: LaneReport): string {
  const rest = [
    trials.unscored > 0 ? `${number(trials.unscored)} unscored` : '',
    trials.not_started > 0 ? `${number(trials.not_started)} not started` : '',
    trials.refused > 0 ? `${number(trials.refused)} refused` : '',
  ].filter((part) => part !== '');
  return rest.length === 0 ? '' : ` (${rest.join(', ')})`;
}

/** `at most 1 iteration`; several bounds are named, for rates under different bounds are different questions. */
export function boundText(bounds: readonly number[]): string {
  if (bounds.length === 0) return 'no bound recorded';
  return `max_iterations ${bounds.join(', ')}${bounds.length > 1 ? ' (mixed)' : ''}`;
}

export function number(value: number | null): string {
  return value === null ? MISSING : WHOLE.format(value);
}

export function decimal(value: number | null): string {
  return value === null ? MISSING : ONE_PLACE.format(value);
}

/** `850 ms`, `12.3 s`, `4 min 05 s`, `2 h 03 min` */
export function duration(ms: number | null): string {
  if (ms === null) return MISSING;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

/** `$1.23`; under a cent with up to six places. */
export function dollars(nanoUsd: number | null): string {
  if (nanoUsd === null) return MISSING;
  const usd = Math.abs(nanoUsd) / 1e9;
  return `${nanoUsd < 0 ? '-' : ''}$${(usd < 0.01 && usd !== 0 ? SMALL_CHANGE : TWO_PLACES).format(usd)}`;
}

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const ONE_PLACE = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const TWO_PLACES = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const SMALL_CHANGE = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 });

/** `0.034`, `< 0.001` */
export function pText(p: number | null): string {
  if (p === null) return MISSING;
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

export type MeasurementRow = { name: string; total: string; mean: string; n: string };

/** The rows of the measurements table. A lower bound says so. */
export function measurementRows({ measurements }: Pick<Report, 'measurements'>): MeasurementRow[] {
  const row = (
    name: string,
    { n, of, total, mean }: Measurement,
    show: (value: number | null) => string,
    showMean = show,
  ): MeasurementRow => ({
    name,
    total: show(total),
    mean: showMean(mean),
    n: `${number(n)} of ${number(of)}`,
  });
  const lower = measurements.usage_incomplete > 0 ? ' (at least)' : '';
  return [
    row('iterations', measurements.iterations, number, decimal),
    row(`input tokens${lower}`, measurements.input_tokens, number),
    row(`output tokens${lower}`, measurements.output_tokens, number),
    row('tool calls', measurements.tool_calls, number, decimal),
    row('active time', measurements.active_ms, duration),
    row(`cost${lower}`, measurements.cost_nano_usd, dollars),
    row('build', measurements.build_ms, duration),
    row('provision', measurements.provision_ms, duration),
    row('agent setup', measurements.agent_setup_ms, duration),
    row('agent', measurements.agent_ms, duration),
    row('verifier', measurements.verifier_ms, duration),
  ];
}

/** What makes a person trust the rates less, one sentence each; [] = nothing. */
export function cautions(report: Report): string[] {
  const said: string[] = [];
  if (report.isolation_none > 0)
    said.push(`isolation: none — ${plural(report.isolation_none, 'trial')} ran as plain processes of this host`);
  for (const { firmness, count } of report.firmness) {
    said.push(
      firmness === 'live'
        ? `${plural(count, 'verdict')} live: held only with processes that the agent left running`
        : `${plural(count, 'verdict')} unconfirmed: processes of the agent were alive, and no second verification without them confirms it`,
    );
  }
  for (const { limit, sessions } of report.not_enforced) said.push(`not enforced: ${limit} (${plural(sessions, 'trial')})`);
  for (const { code, count, first } of report.warnings) said.push(`${code} ×${number(count)}: ${first}`);
  for (const lane of report.lanes) {
    const { failures, of, share, flagged } = lane.infrastructure;
    if (flagged)
      said.push(
        `${lane.lane}: ${number(failures)} of ${number(of)} trials (${percent(share)}) failed for infrastructure: run them again before trusting the rate`,
      );
    if (lane.agent_versions > 1) said.push(`${lane.lane}: mixes ${lane.agent_versions} versions of its agent`);
  }
  if (report.max_iterations.length > 1) said.push(`trials ran under different bounds: ${boundText(report.max_iterations)}`);
  if (report.measurements.usage_incomplete > 0) said.push(`usage: incomplete in ${plural(report.measurements.usage_incomplete, 'trial')}`);
  if (report.outdated > 0) said.push(`${plural(report.outdated, 'Session')} of earlier versions of these trials left out`);
  return said;
}

/** The difference of two lanes in one line. */
export function comparisonText(comparison: Comparison): string {
  const names = `${comparison.lane} − ${comparison.baseline}`;
  switch (comparison.status) {
    case 'refused':
      return `${names}: not compared (${comparison.reasons.map((reason) => reason.message).join('; ')}). --allow-mismatch compares anyway`;
    case 'nothing_in_common':
      return `${names}: no task has a scored trial in both`;
    case 'compared': {
      const bounds =
        comparison.low === null || comparison.high === null
          ? ''
          : ` [${points(Math.max(-1, comparison.low))}, ${points(Math.min(1, comparison.high))}]`;
      const p =
        comparison.p === null && comparison.sign_flip !== null
          ? `sign-flip p ${pText(comparison.sign_flip.p)}`
          : `p ${pText(comparison.p)}`;
      const ranking = comparison.distinguishable ? '' : '; the interval contains 0: no ranking';
      return `${names}: ${points(comparison.difference)} points${bounds} over ${plural(comparison.tasks, 'task')}, ${p}${comparison.low === null ? '; no interval' : ranking}`;
    }
    default:
      return comparison.status satisfies never;
  }
}

/** What the lane used more or less than the baseline, per Session; null = neither side recorded it. */
export function usageText({ usage }: Comparison): string | null {
  const signed = (value: number, show: (value: number) => string) => `${value < 0 ? '−' : '+'}${show(Math.abs(value))}`;
  const parts = [
    usage.tokens_difference === null ? '' : `${signed(usage.tokens_difference, number)} tokens`,
    usage.cost_difference_nano_usd === null ? '' : signed(usage.cost_difference_nano_usd, dollars),
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : `per Session ${parts.join(', ')}${usage.incomplete ? ' (usage: incomplete)' : ''}`;
}

export function plural(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `+12.5` percentage points. */
export function points(share: number | null): string {
  if (share === null) return MISSING;
  const text = (Math.abs(share) * 100).toFixed(1);
  return `${text === '0.0' ? '±' : share < 0 ? '−' : '+'}${text}`;
}

export const RESULT_MARKS = { passed: '✓', failed: '✗', partial: '◐', unscored: '?', unsettled: '…', not_started: '·' } as const;
