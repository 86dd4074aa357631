import { terminalJson } from '../domain/terminal-text.ts';
import type { ReportFormat } from '../report-format.ts';

/** The Report as it is, for programs: schemas/report.schema.json describes it. Keys keep the order of the schema. */
export const json: ReportFormat = {
  summary: 'everything, for programs (JSON Schema: schemas/report.schema.json)',
  extension: 'json',
  render: (report) => `${terminalJson(JSON.stringify(report, finite, 2))}\n`,
};

/** A number that is none is a fault in the making of the Report; silently writing null would hide it. */
function finite(key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`expected a finite number at ${key}, found ${value}`);
  return value;
}
