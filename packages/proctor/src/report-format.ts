import type { Report } from './domain/report.ts';

/** Contract: a pure rendering. It must not compute a number that the Report lacks, and no byte of agent text may act on a terminal. */
export interface ReportFormat {
  summary: string;
  extension: string;
  render(report: Report, options: { color: boolean; columns: number; timeZone: 'utc' | 'local' }): string;
}
