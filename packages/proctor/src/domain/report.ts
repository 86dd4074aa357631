import type { SessionSummary } from './summary.ts';
import type { Issue } from './issue.ts';

/** What a report is made from. Everything else is derived. */
export type ReportInput = {
  title: string;
  experiment: string | null;
  generated_at: string;
  sessions: SessionSummary[];
  /** Tasks that did not compile under --skip-invalid. */
  refused: { task: string; path: string; issues: Issue[] }[];
  /** Trials that were planned and never got a Session (stopped, fail-fast). */
  planned_trials: number | null;
  accept_retries: boolean;
  interrupted: boolean;
};

export type Report = ReportInput;
