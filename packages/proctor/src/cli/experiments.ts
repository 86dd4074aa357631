import { createInterface } from 'node:readline/promises';
import { AppError } from '../domain/errors.ts';
import { PackedPlanSchema, unpackPlan } from '../domain/report-plan.ts';
import type { SessionSummary } from '../domain/summary.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import { aligned, localTime, table } from './columns.ts';
import type { Call } from './command.ts';
import { withClient } from './open.ts';
import { tell } from './tell.ts';

export async function list(call: Call): Promise<number> {
  const found = await withClient(call, (client) => client.call('experiments.list', {}));
  return tell(call, found, (all) => {
    if (all.length === 0) return 'No experiment yet: `proctor eval experiment` makes one.\n';
    const rows = all.map((one) => [
      terminalLine(one.name),
      String(one.sessions),
      localTime(one.last_at ?? one.created_at),
      terminalLine(one.settings?.tasks ?? '—'),
    ]);
    return table(['experiment', 'sessions', 'last', 'tasks'], rows, call.terminal.paint.dim);
  });
}

export async function show(call: Call): Promise<number> {
  const name = call.words[0] ?? '';
  const found = await withClient(call, async (client) => {
    const listing = (await client.call('experiments.list', {})).find((one) => one.name === name);
    if (listing === undefined)
      throw new AppError('not_found', `no experiment ${JSON.stringify(name)}: proctor experiments list shows them`);
    return { ...listing, summaries: await client.call('sessions.summaries', { experiment: name }) };
  });
  return tell(call, found, (one) => {
    const settings = Object.entries(one.settings ?? {}).map(([key, value]) => [key, terminalLine(settingText(key, value))]);
    const head = aligned([
      ['experiment', terminalLine(one.name)],
      ['created', localTime(one.created_at)],
      ['last', localTime(one.last_at)],
      ...settings,
    ]);
    const rows = one.summaries.map((summary) => [summary.session_id, ...trialCells(summary)]);
    return `${head}\n${table(['session', 'task', 'lane', 'repetition', 'attempt', 'result', 'reward'], rows, call.terminal.paint.dim)}`;
  });
}

function settingText(key: string, value: unknown): string {
  const plan = key === 'plan' ? PackedPlanSchema.safeParse(value).data : undefined;
  if (plan !== undefined) {
    const { length } = unpackPlan(plan);
    return `${length} ${length === 1 ? 'trial' : 'trials'}`;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export async function remove(call: Call): Promise<number> {
  const name = call.words[0] ?? '';
  const removed = await withClient(call, async (client) => {
    const listing = (await client.call('experiments.list', {})).find((one) => one.name === name);
    if (listing === undefined)
      throw new AppError('not_found', `no experiment ${JSON.stringify(name)}: proctor experiments list shows them`);
    if (!call.given.flag('yes'))
      await confirm(`Delete ${listing.sessions} Sessions of ${terminalLine(name)} and all of their events? [y/N] `);
    return client.call('experiments.delete', { name });
  });
  return tell(call, removed, (one) => `Deleted ${one.sessions} Sessions with ${one.events.toLocaleString('en-US')} events.\n`);
}

/** Errors: usage without a terminal, interrupted when the answer is not yes. */
async function confirm(question: string): Promise<void> {
  if (process.stdin.isTTY !== true) throw new AppError('usage', 'deleting asks first, and stdin is no terminal: pass --yes');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(question);
    if (!/^y(es)?$/i.test(answer.trim())) throw new AppError('interrupted', 'nothing was deleted');
  } finally {
    lines.close();
  }
}

function trialCells(summary: SessionSummary): string[] {
  return [
    terminalLine(summary.task ?? '—'),
    terminalLine(summary.lane ?? '—'),
    String(summary.repetition ?? '—'),
    String(summary.attempt ?? '—'),
    summary.settled ? summary.trial_result : 'unsettled',
    summary.reward === null ? '—' : String(summary.reward),
  ];
}
