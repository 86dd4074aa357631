import type { ReportFormat } from '../report-format.ts';
import { json } from './json.ts';
import { junit } from './junit.ts';
import { markdown } from './markdown.ts';
import { terminal } from './terminal.ts';

export const REPORT_FORMATS = { terminal, json, markdown, junit } satisfies Record<string, ReportFormat>;
