import { z } from 'zod';
import type { Client } from '../api/client.ts';
import { AppError } from '../domain/errors.ts';
import { didYouMean } from '../domain/mapping/did-you-mean.ts';
import type { ReportInput } from '../domain/report.ts';
import { PackedPlanSchema, unpackPlan } from '../domain/report-plan.ts';
import type { Call } from './command.ts';
import { withClient } from './open.ts';
import { printReport, reportOf } from './report-output.ts';

/** `proctor report`: the report of a label from its Sessions, as they are now. */
export async function run(call: Call): Promise<number> {
  const input = await withClient(call, (client) => reportInput(client, call));
  const report = reportOf(input);
  await printReport(report, call.given.flag('json') ? 'json' : (call.given.text('format') ?? 'terminal'), call.terminal);
  return report.exit.code;
}

async function reportInput(client: Client, call: Call): Promise<ReportInput> {
  const all = await client.call('experiments.list', {});
  const [named] = call.words;
  const found = named === undefined ? all[0] : all.find((one) => one.name === named);
  if (found === undefined) {
    if (named === undefined) throw new AppError('not_found', 'no experiment in this store yet: proctor eval experiment makes one');
    const near = didYouMean(
      named,
      all.map((one) => one.name),
    );
    throw new AppError(
      'not_found',
      `no experiment ${JSON.stringify(named)}: ${near === null ? 'proctor experiments list shows them' : `did you mean ${near}?`}`,
    );
  }
  const kept = KeptSettings.safeParse(found.settings ?? {}).data ?? {};
  const plan = kept.plan === undefined ? null : unpackPlan(kept.plan);
  return {
    title: found.settings?.title ?? found.name,
    experiment: found.name,
    generated_at: new Date().toISOString(),
    sessions: await client.call('sessions.summaries', { experiment: found.name }),
    refused: kept.refused ?? [],
    planned_trials: plan?.length ?? null,
    ...(plan === null ? {} : { plan }),
    ...(kept.repeat === undefined ? {} : { repetitions: kept.repeat }),
    accept_retries: call.given.flag('accept-retries') || kept.accept_retries === true,
    interrupted: false,
  };
}

/** What of an experiment's settings a report needs, as far as the label's client kept it. */
const KeptSettings = z.looseObject({
  repeat: z.int().optional(),
  accept_retries: z.boolean().optional(),
  plan: PackedPlanSchema.optional(),
  refused: z
    .array(
      z.object({
        task: z.string(),
        path: z.string(),
        issues: z.array(
          z.object({
            severity: z.enum(['error', 'warning']),
            path: z.string(),
            message: z.string(),
            expected: z.string().optional(),
            found: z.string().optional(),
            hint: z.string().optional(),
            place: z.object({ file: z.string(), line: z.number().nullable(), column: z.number().nullable() }).optional(),
          }),
        ),
      }),
    )
    .optional(),
});
