import { hash as hashOnce } from 'node:crypto';
import { basename, dirname } from 'node:path/posix';
import type { Hash } from '../../domain/canonical-json.ts';
import type { Issue } from '../../domain/issue.ts';
import { fileTree } from '../../domain/mapping/file-tree.ts';
import { mapHarbor } from '../../domain/mapping/harbor.ts';
import { HARBOR_KEYS_ELSEWHERE, type HarborConfig, readHarborConfig } from '../../domain/mapping/harbor-config.ts';
import { ignoredBy } from '../../domain/mapping/ignore-patterns.ts';
import { MappingLog } from '../../domain/mapping/mapping-log.ts';
import type { FileTree } from '../../domain/task.ts';
import type { CompileOptions, CompileResult, TaskFolder, TaskFormat } from '../../task-format.ts';
import { type ParsedToml, parseToml } from './toml.ts';

const MARKER = 'task.toml';

/** Harbor's task folder, schema 1.0–1.4, and the minimal form with `[verifier] command`, which is the same format. */
export const harbor: TaskFormat = {
  summary: 'Harbor task folders (task.toml, instruction.md, environment/, tests/, solution/)',
  marker: MARKER,
  compile,
};

async function compile(folder: TaskFolder, options: CompileOptions): Promise<CompileResult> {
  const log = new MappingLog(HARBOR_KEYS_ELSEWHERE);
  const source = await readRequiredText(folder, MARKER, options, log);
  if (source === null) return refused(folder.name, log, null);
  const parsed = await parseToml(source);
  if (parsed.kind === 'failed') {
    log.error('', parsed.message, { expected: 'valid TOML', place: { file: MARKER, line: parsed.line, column: parsed.column } });
    return refused(folder.name, log, null);
  }
  if (parsed.hasByteOrderMark) {
    log.warn('', 'the file begins with a byte order mark, which Harbor refuses', { place: { file: MARKER, line: 1, column: 1 } });
  }
  const tests = await readFiltered(folder, 'tests', options, log);
  const config = readHarborConfig(parsed.value, log, { hasTestScript: tests?.files.some((file) => file.path === 'test.sh') ?? false });
  const solution = await readFiltered(folder, 'solution', options, log);
  const isMultiStep = config.steps !== null && config.steps.length > 0;
  const instruction = isMultiStep ? null : await readText(folder, 'instruction.md', options, log);
  const environment = await readEnvironment(folder, config, options, log);
  checkAssets({ tests, solution }, options, log);
  checkTotal([byteLength(source), byteLength(instruction ?? ''), tests?.bytes ?? 0, solution?.bytes ?? 0], options, log);
  const task = mapHarbor(
    config,
    {
      name: folder.name,
      path: folder.root,
      instruction,
      ...environment,
      hasTrajectory: (await folder.kindOf('trajectory.json')) !== null,
      tests: { tree: tests, script: config.live.command === null ? await readScript(folder, tests, 'tests/test.sh', options, log) : null },
      solution: { tree: solution, script: await readScript(folder, solution, 'solution/solve.sh', options, null) },
    },
    log,
    sha256,
  );
  if (task === null) return refused(config.task?.name ?? config.name ?? folder.name, log, parsed);
  return { kind: 'compiled', task, account: log.account, warnings: placed(log.issues, parsed) };
}

const sha256: Hash = (content) => hashOnce('sha256', content, 'hex');

function refused(name: string, log: MappingLog, parsed: ParsedToml | null): CompileResult {
  return { kind: 'refused', name, issues: placed(log.issues, parsed), account: log.account };
}

/** Joins the paths of the mapping with their positions in the file. */
function placed(issues: readonly Issue[], parsed: ParsedToml | null): Issue[] {
  return issues.map((issue) => {
    if (issue.place !== undefined) return issue;
    const position = parsed?.kind === 'parsed' ? parsed.at(issue.path) : null;
    return { ...issue, place: { file: MARKER, line: position?.line ?? null, column: position?.column ?? null } };
  });
}

async function readText(folder: TaskFolder, path: string, options: CompileOptions, log: MappingLog | null): Promise<string | null> {
  const read = await folder.readText(path, options);
  if (read === null) return null;
  if ('text' in read) return read.text;
  log?.issues.push(read.issue);
  return null;
}

async function readRequiredText(folder: TaskFolder, path: string, options: CompileOptions, log: MappingLog): Promise<string | null> {
  const before = log.issues.length;
  const text = await readText(folder, path, options, log);
  if (text === null && log.issues.length === before) {
    log.error('', 'this file is missing', {
      expected: 'a regular file',
      found: 'nothing',
      place: { file: path, line: null, column: null },
    });
  }
  return text;
}

async function readScript(
  folder: TaskFolder,
  tree: FileTree | null,
  path: string,
  options: CompileOptions,
  log: MappingLog | null,
): Promise<string | null> {
  const name = path.slice(path.indexOf('/') + 1);
  return tree?.files.some((file) => file.path === name) ? await readText(folder, path, options, log) : null;
}

async function readTree(
  folder: TaskFolder,
  path: string,
  options: CompileOptions,
  log: MappingLog,
  sizeOnly = false,
): Promise<FileTree | null> {
  const read = await folder.readTree(path, { materializeLinks: options.materializeLinks, sizeOnly });
  if (read === null) return null;
  log.issues.push(...read.issues);
  return read.tree;
}

const IGNORE_FILE = '.harborignore';

/** tests/ and solution/ without what their ignore files leave out. */
async function readFiltered(folder: TaskFolder, path: string, options: CompileOptions, log: MappingLog): Promise<FileTree | null> {
  const tree = await readTree(folder, path, options, log);
  const ignoreFiles = tree?.files.filter((file) => basename(file.path) === IGNORE_FILE) ?? [];
  if (tree === null || ignoreFiles.length === 0) return tree;
  const patterns = new Map<string, string>();
  for (const file of ignoreFiles) {
    const text = await readText(folder, `${path}/${file.path}`, options, log);
    patterns.set(file.path === IGNORE_FILE ? '' : dirname(file.path), text ?? '');
  }
  const isIgnored = ignoredBy(patterns);
  const kept = tree.files.filter((file) => basename(file.path) !== IGNORE_FILE && !isIgnored(file.path));
  for (const entry of ['test.sh', 'solve.sh']) {
    if (!tree.files.some((file) => file.path === entry) || kept.some((file) => file.path === entry)) continue;
    log.warn('', `${IGNORE_FILE} leaves out ${entry}`, { place: { file: `${path}/${entry}`, line: null, column: null } });
  }
  return fileTree(tree.root, kept, sha256);
}

type EnvironmentFolder = { context: FileTree | null; hasEnvironment: boolean; hasCompose: boolean };

/** A context that nothing builds or uploads, because an image is named and a Dockerfile lies there, is not read. */
async function readEnvironment(
  folder: TaskFolder,
  config: HarborConfig,
  options: CompileOptions,
  log: MappingLog,
): Promise<EnvironmentFolder> {
  const hasCompose = (await folder.kindOf('environment/docker-compose.yaml')) !== null;
  if (config.environment.docker_image && (await folder.kindOf('environment/Dockerfile')) === 'file') {
    return { context: null, hasEnvironment: true, hasCompose };
  }
  const context = await readTree(folder, 'environment', options, log, true);
  return { context, hasEnvironment: context !== null, hasCompose };
}

function checkAssets(trees: Record<string, FileTree | null>, options: CompileOptions, log: MappingLog): void {
  if (!options.strictFiles) return;
  for (const [name, tree] of Object.entries(trees)) {
    for (const file of tree?.files ?? []) {
      if (!file.asset) continue;
      log.error('', 'not a text file', {
        expected: 'valid UTF-8 of at most 1 MiB',
        found: `${file.bytes} bytes`,
        place: { file: `${name}/${file.path}`, line: null, column: null },
      });
    }
  }
}

function checkTotal(sizes: readonly number[], options: CompileOptions, log: MappingLog): void {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= options.maxTaskBytes) return;
  log.error('', 'the files of this task are too large together', {
    expected: `at most ${options.maxTaskBytes} bytes of task.toml, instruction.md, tests/ and solution/`,
    found: `${total} bytes`,
    place: { file: '.', line: null, column: null },
  });
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
