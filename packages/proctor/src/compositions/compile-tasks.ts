import { AppError } from '../domain/errors.ts';
import type { FieldAccount, Issue } from '../domain/issue.ts';
import type { CompiledTask } from '../domain/task.ts';
import type { DiscoveredFolder, Source } from '../source.ts';
import type { CompileOptions, TaskFormat } from '../task-format.ts';

export type CompileParts = {
  formats: Readonly<Record<string, TaskFormat>>;
  sources: Readonly<Record<string, Source>>;
  /** A folder that a source may write below. */
  scratch: string;
};

export type CompileTasksOptions = Partial<CompileOptions> & {
  /** Key of the formats table; by default each folder's marker decides. */
  format?: string;
};

export type CompiledTasks = {
  /** In the order in which they were found. */
  compiled: (CompiledTask & { path: string; warnings: Issue[] })[];
  refused: RefusedTask[];
  /** What looks like a task folder and is none. */
  rejected: { path: string; reason: string }[];
};

export type RefusedTask = { name: string; path: string; issues: Issue[]; account: FieldAccount[] };

export const DEFAULT_COMPILE_OPTIONS: CompileOptions = { strictFiles: false, materializeLinks: false, maxTaskBytes: 64 * 1024 * 1024 };

/**
 * Finds and compiles every task of a reference; nothing is created, built or run. One bad task hides no other: each is refused with every issue of
 * it. Errors: usage (no such format), not_found (nothing to read there), no_tasks (nothing found there).
 */
export async function compileTasks(reference: string, parts: CompileParts, options: CompileTasksOptions = {}): Promise<CompiledTasks> {
  const formats = chooseFormats(parts.formats, options.format);
  const result: CompiledTasks = { compiled: [], refused: [], rejected: [] };
  const source = await chooseSource(reference, parts.sources);
  const folders = await source.discover(reference, {
    markers: [...new Set(formats.map((format) => format.marker))],
    scratch: parts.scratch,
    onRejected: (candidate) => result.rejected.push(candidate),
  });
  if (folders.length === 0) throw nothingFound(reference, formats, result.rejected);
  for (const found of folders) {
    const format = formats.find((candidate) => candidate.marker === found.marker);
    if (format !== undefined) await compileOne(found, format, { ...DEFAULT_COMPILE_OPTIONS, ...options }, result);
  }
  refuseSameNames(result);
  return result;
}

function chooseFormats(formats: CompileParts['formats'], name: string | undefined): TaskFormat[] {
  if (name === undefined) return Object.values(formats);
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format !== undefined) return [format];
  throw new AppError(
    'usage',
    `expected a task format (${Object.keys(formats).join(', ')}), found ${JSON.stringify(name)}: pass one of them to --format`,
  );
}

async function chooseSource(reference: string, sources: CompileParts['sources']): Promise<Source> {
  for (const source of Object.values(sources)) if (await source.accepts(reference)) return source;
  throw new AppError('not_found', `expected a task folder or a folder of tasks, found nothing at ${reference}: check the path`);
}

function nothingFound(reference: string, formats: readonly TaskFormat[], rejected: CompiledTasks['rejected']): AppError {
  const markers = formats.map((format) => format.marker).join(' or ');
  const looked = rejected.map(({ path, reason }) => `\n  ${path}: ${reason}`).join('');
  return new AppError('no_tasks', `expected a folder with ${markers} at or below ${reference}, found none${looked}`, {
    details: { rejected },
  });
}

async function compileOne(found: DiscoveredFolder, format: TaskFormat, options: CompileOptions, result: CompiledTasks): Promise<void> {
  const path = found.folder.root;
  const compiled = await format.compile(found.folder, options);
  if (compiled.kind === 'refused') {
    result.refused.push({ name: compiled.name, path, issues: compiled.issues, account: compiled.account ?? [] });
    return;
  }
  const task = { ...compiled.task, provenance: { ...compiled.task.provenance, commit: found.commit } };
  result.compiled.push({ task, account: compiled.account, warnings: compiled.warnings, path });
}

/** Results are told apart by the name of their task: of two with one name the later is refused. */
function refuseSameNames(result: CompiledTasks): void {
  const first = new Map<string, string>();
  result.compiled = result.compiled.filter(({ task, path, account }) => {
    const other = first.get(task.name);
    if (other === undefined) {
      first.set(task.name, path);
      return true;
    }
    const issue: Issue = {
      severity: 'error',
      path: 'name',
      message: `another task has the name ${task.name}`,
      expected: 'a name of its own',
      found: `the name of ${other}`,
      place: { file: '.', line: null, column: null },
    };
    result.refused.push({ name: task.name, path, issues: [issue], account });
    return false;
  });
}
