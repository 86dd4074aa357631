import { existsSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../compose/folders.ts';
import { AppError, messageOf } from '../domain/errors.ts';
import { makeReport, type Report, type ReportInput } from '../domain/report.ts';
import { seededRandom } from '../domain/statistics-random.ts';
import type { Call } from './command.ts';
import type { Terminal } from './terminal.ts';

/** The same input gives the same report: its intervals are resampled with one seed. */
export function reportOf(input: ReportInput): Report {
  return makeReport(input, { random: seededRandom(1) });
}

/** On stdout, in the format asked for. */
export async function printReport(report: Report, format: string, terminal: Terminal): Promise<void> {
  terminal.out(await rendered(report, format, terminal));
}

/** Files that `--markdown`, `--junit` and `--output` ask for. */
export function wantedFiles({ given }: Pick<Call, 'given'>): { format: string; path: string }[] {
  const output = given.text('output');
  const named = (format: string) => {
    const path = given.text(format);
    return path === null ? [] : [{ format, path: resolve(path) }];
  };
  const folder =
    output === null
      ? []
      : [
          { format: 'json', path: resolve(join(output, 'report.json')) },
          { format: 'markdown', path: resolve(join(output, 'report.md')) },
          { format: 'junit', path: resolve(join(output, 'junit.xml')) },
        ];
  return [...named('markdown'), ...named('junit'), ...folder];
}

/** Before anything runs: a report that cannot be written after hours is worse than a refusal now. What this makes, it removes again. */
export function tryFiles(files: readonly { path: string }[]): void {
  for (const { path } of files) {
    try {
      const made = makeFolder(dirname(path));
      const isNew = !existsSync(path);
      writeFileSync(path, '', { flag: 'a' });
      if (isNew) unlinkSync(path);
      for (const folder of made.reverse()) rmdirSync(folder);
    } catch (cause) {
      throw notWritten(path, cause);
    }
  }
}

/** Every file that can be written is; the first that cannot is told after that. */
export async function writeFiles(report: Report, files: readonly { format: string; path: string }[]): Promise<void> {
  const failed: AppError[] = [];
  for (const { format, path } of files) {
    const text = await rendered(report, format, null);
    try {
      makeFolder(dirname(path));
      writeFileSync(path, text);
    } catch (cause) {
      failed.push(notWritten(path, cause));
    }
  }
  if (failed[0] !== undefined) throw failed[0];
}

function notWritten(path: string, cause: unknown): AppError {
  return new AppError('invalid_configuration', `the report cannot be written to ${path}: ${messageOf(cause)}`, { cause });
}

async function rendered(report: Report, format: string, terminal: Terminal | null): Promise<string> {
  const { shownAs } = await import('../compose/report-formats.ts');
  const shown = shownAs(format);
  if (shown === undefined) throw new AppError('usage', `no report format ${JSON.stringify(format)}`);
  const toTty = terminal?.outIsTty === true;
  return shown.render(report, {
    color: terminal?.paint.isColorSupported === true,
    columns: terminal?.columns ?? 100,
    timeZone: toTty ? 'local' : 'utc',
  });
}
