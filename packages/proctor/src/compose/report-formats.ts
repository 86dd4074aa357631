import type { ReportFormat } from '../report-format.ts';
import { REPORT_FORMATS } from '../report-formats/index.ts';

/** How a report can be shown, by the name that `--format` takes. */
export function shownAs(name: string): ReportFormat | undefined {
  return Object.hasOwn(REPORT_FORMATS, name) ? REPORT_FORMATS[name as keyof typeof REPORT_FORMATS] : undefined;
}
