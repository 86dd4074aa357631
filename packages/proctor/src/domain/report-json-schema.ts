import { z } from 'zod';
import { ReportSchema } from './report-schema.ts';
import { SessionSummarySchema } from './session-summary.ts';

/** JSON Schema (2020-12) of what `--json` prints. */
export function reportJsonSchema(): Record<string, unknown> {
  const registry = z.registry<{ id?: string; title?: string }>();
  registry.add(SessionSummarySchema, { id: 'SessionSummary' });
  return { ...z.toJSONSchema(ReportSchema, { target: 'draft-2020-12', metadata: registry }), title: 'Report' };
}
