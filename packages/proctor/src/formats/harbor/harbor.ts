import { hash as hashOnce } from 'node:crypto';
import { basename, dirname } from 'node:path/posix';
import type { Hash } from '../../domain/canonical-json.ts';
import type { Issue } from '../../domain/issue.ts';
import { fileTree, findFile } from '../../domain/mapping/file-tree.ts';
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
  const parsed = parseToml(source);
  if (parsed.kind === 'failed') {
    log.error('', parsed.message, { expected: 'valid TOML', place: { file: MARKER, line: parsed.line, column: parsed.column } });
    return refused(folder.name, log, null);
  }
  if (parsed.hasByteOrderMark) {
    log.warn('', 'the file begins with a byte order mark, which Harbor refuses', { place: { file: MARKER, line: 1, column: 1 } });
  }
  const tests = await readScripts(folder, 'tests', 'test.sh', options, log);
  const config = readHarborConfig(parsed.value, log, { hasTestScript: findFile(tests.tree, 'test.sh') !== null });
  const solution = await readScripts(folder, 'solution', 'solve.sh', options, log);
  const isMultiStep = config.steps !== null && config.steps.length > 0;
  const instruction = isMultiStep ? null : await readText(folder, 'instruction.md', options, log);
  const environment = await readEnvironment(folder, config, options, log);
  checkAssets({ tests: tests.tree, solution: solution.tree }, options, log);
  if (config.live.command === null) checkTestScript(tests, log);
  checkTotal([byteLength(source), byteLength(instruction ?? ''), tests.tree?.bytes ?? 0, solution.tree?.bytes ?? 0], options, log);
  const task = mapHarbor(
    config,
    {
      name: folder.name,
      path: folder.root,
      instruction,
      ...environment,
      hasTrajectory: (await folder.kindOf('trajectory.json')) !== null,
      tests,
      solution,
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

const IGNORE_FILE = '.harborignore';

type Scripts = { tree: FileTree | null; script: string | null };

/** tests/ or solution/ without what its ignore files leave out, and the text of the script that is run. */
async function readScripts(folder: TaskFolder, path: string, entry: string, options: CompileOptions, log: MappingLog): Promise<Scripts> {
  const read = await folder.readTree(path, { materializeLinks: options.materializeLinks, texts: [entry, IGNORE_FILE] });
  if (read === null) return { tree: null, script: null };
  log.issues.push(...read.issues);
  const script = read.texts.get(entry) ?? null;
  const ignoreFiles = read.tree.files.filter((file) => basename(file.path) === IGNORE_FILE);
  if (ignoreFiles.length === 0) return { tree: read.tree, script };
  const isIgnored = ignoredBy(
    new Map(ignoreFiles.map(({ path: file }) => [file === IGNORE_FILE ? '' : dirname(file), read.texts.get(file) ?? ''])),
  );
  const kept = read.tree.files.filter((file) => basename(file.path) !== IGNORE_FILE && !isIgnored(file.path));
  const tree = fileTree(read.tree.root, kept, sha256);
  if (findFile(read.tree, entry) !== null && findFile(tree, entry) === null) {
    log.warn('', `${IGNORE_FILE} leaves out ${entry}`, { place: { file: `${path}/${entry}`, line: null, column: null } });
  }
  return { tree, script };
}

/** The verifier's entry file is never exempt from being text. */
function checkTestScript(tests: Scripts, log: MappingLog): void {
  const file = findFile(tests.tree, 'test.sh');
  if (file === null || !file.asset) return;
  const place = { file: 'tests/test.sh', line: null, column: null };
  log.error('', 'the entry file of a verifier must be text', {
    expected: 'valid UTF-8 of at most 1 MiB',
    found: `${file.bytes} bytes`,
    place,
  });
}

type EnvironmentFolder = { context: FileTree | null; hasEnvironment: boolean; hasCompose: boolean };

/** A context that nothing builds or uploads, because an image is named and a Dockerfile lies there, is not read. */
async function readEnvironment(
  folder: TaskFolder,
  config: HarborConfig,
  options: CompileOptions,
  log: MappingLog,
): Promise<EnvironmentFolder> {
  if (config.environment.docker_image && (await folder.kindOf('environment/Dockerfile')) === 'file') {
    return { context: null, hasEnvironment: true, hasCompose: (await folder.kindOf('environment/docker-compose.yaml')) !== null };
  }
  const read = await folder.readTree('environment', { materializeLinks: options.materializeLinks, sizeOnly: true });
  if (read === null) return { context: null, hasEnvironment: false, hasCompose: false };
  log.issues.push(...read.issues);
  return { context: read.tree, hasEnvironment: true, hasCompose: findFile(read.tree, 'docker-compose.yaml') !== null };
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
