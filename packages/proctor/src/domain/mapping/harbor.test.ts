import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FieldAccount, Issue } from '../issue.ts';
import type { FileEntry, FileTree, Task } from '../task.ts';
import { fileTree } from './file-tree.ts';
import { type HarborFolder, mapHarbor } from './harbor.ts';
import { HARBOR_KEYS_ELSEWHERE, readHarborConfig } from './harbor-config.ts';
import { childPath, isAtOrBelow, itemPath } from './key-path.ts';
import { MappingLog } from './mapping-log.ts';
import { isTable, type Table } from './plain-json.ts';

/** Tells contents apart, which is all that mapping asks of a hash. */
const hash = (content: string | Uint8Array): string => `h(${content})`;
const entry = (path: string, more: Partial<FileEntry> = {}): FileEntry => ({
  path,
  bytes: 10,
  sha256: `sha-${path}`,
  mode: 0o644,
  asset: false,
  ...more,
});
const tree = (root: string, ...files: FileEntry[]): FileTree => fileTree(root, files, hash);

const FOLDER: HarborFolder = {
  name: 'folder',
  path: '/tasks/folder',
  instruction: '<!-- canary -->\nDo it.\n',
  context: tree('/tasks/folder/environment', entry('Dockerfile')),
  hasEnvironment: true,
  hasCompose: false,
  hasTrajectory: false,
  tests: { tree: tree('/tasks/folder/tests', entry('test.sh'), entry('cases.json')), script: '#!/bin/sh\n' },
  solution: { tree: tree('/tasks/folder/solution', entry('solve.sh')), script: '#!/bin/sh\n' },
};
const BARE: HarborFolder = {
  ...FOLDER,
  context: null,
  hasEnvironment: false,
  tests: { tree: null, script: null },
  solution: { tree: null, script: null },
};

function map(value: Table, folder: HarborFolder = FOLDER): { task: Task | null; issues: Issue[]; account: FieldAccount[] } {
  const log = new MappingLog(HARBOR_KEYS_ELSEWHERE);
  const hasTestScript = folder.tests.tree?.files.some((file) => file.path === 'test.sh') ?? false;
  const task = mapHarbor(readHarborConfig(value, log, { hasTestScript }), folder, log, hash);
  return { task, issues: log.issues, account: log.account };
}
const errors = (value: Table, folder?: HarborFolder) => map(value, folder).issues.filter((issue) => issue.severity === 'error');
const fate = (account: readonly FieldAccount[], path: string) => account.find((one) => one.path === path);

describe('the Harbor form', () => {
  test('runs tests/test.sh itself, executable, streams merged, reward from either file', () => {
    const { task } = map({});
    expect(task?.verifier).toMatchObject({
      argv: ['/tests/test.sh'],
      target: '/tests',
      merge_output: true,
      reward_format: 'reward_file',
      reward_range: [0, 1],
      pass_threshold: 1,
      live_processes: 'keep',
    });
    expect(task?.verifier?.files?.files.map((file) => [file.path, file.mode])).toEqual([
      ['cases.json', 0o644],
      ['test.sh', 0o755],
    ]);
    expect(task?.solution).toMatchObject({ argv: ['/solution/solve.sh'], target: '/solution' });
    expect(task?.instruction).toBe('Do it.\n');
    expect(task?.name).toBe('folder');
    expect(task?.environment.image).toMatchObject({ kind: 'build', dockerfile: 'Dockerfile', built: false });
  });

  test('has limits of 900, 360, 600 and 600 s, and marks the default that Harbor has not', () => {
    const { task, account } = map({});
    expect(task?.limits).toEqual({
      agent_timeout_ms: 900_000,
      agent_setup_timeout_ms: 360_000,
      verifier_timeout_ms: 600_000,
      build_timeout_ms: 600_000,
    });
    expect(fate(account, 'agent.timeout_sec')).toMatchObject({ fate: 'defaulted', value: 900 });
    expect(map({ agent: { timeout_sec: 0.5 } }).task?.limits.agent_timeout_ms).toBe(500);
  });

  test('an image is preferred to a Dockerfile, and uploads loose files only where there is none', () => {
    expect(map({ environment: { docker_image: 'a' } }).task?.environment).toMatchObject({
      image: { kind: 'reference', reference: 'a' },
      upload: null,
    });
    const loose = { ...FOLDER, context: tree('/e', entry('rows.csv')) };
    expect(map({ environment: { docker_image: 'a' } }, loose).task?.environment.upload?.files.map((file) => file.path)).toEqual([
      'rows.csv',
    ]);
  });

  test('difficulty is the first tag', () => {
    const value = { task: { name: 'a/b', keywords: ['csv', 'x'] }, metadata: { tags: ['csv', 'data'], difficulty: 'hard', category: 'c' } };
    const { task } = map(value);
    expect(task?.tags).toEqual(['hard', 'csv', 'data', 'x']);
    expect(task?.source_fields).toEqual({ metadata: value.metadata, 'task.keywords': ['csv', 'x'] });
    expect(task?.name).toBe('a/b');
  });

  test('a script whose first line names no interpreter is run by bash, with a warning', () => {
    const { task, issues } = map({}, { ...FOLDER, tests: { ...FOLDER.tests, script: 'echo 1\n' } });
    expect(task?.verifier?.argv).toEqual(['bash', '/tests/test.sh']);
    expect(issues).toMatchObject([{ severity: 'warning', place: { file: 'tests/test.sh', line: 1, column: 1 } }]);
    expect(map({}, { ...FOLDER, tests: { ...FOLDER.tests, script: '#!/bin/sh\r\n' } }).issues).toMatchObject([{ severity: 'warning' }]);
  });

  test('what is missing is said for each file', () => {
    expect(errors({}, { ...BARE, instruction: null }).map((issue) => issue.place?.file)).toEqual([
      'instruction.md',
      'environment',
      'tests/test.sh',
    ]);
    expect(errors({}, { ...FOLDER, instruction: '# canary\n \n' })).toMatchObject([{ message: 'the instruction is empty' }]);
  });
});

describe('the minimal form', () => {
  const minimal = (verifier: Table, more: Table = {}) => ({
    environment: { image: 'python' },
    verifier: { command: ['python', '/tests/run.py'], ...verifier },
    ...more,
  });

  test('needs neither environment/ nor tests/test.sh', () => {
    const { task } = map(minimal({ reward_format: 'reward_text', pass_threshold: 1 }, { name: 'sort-array', max_iterations: 2 }), BARE);
    expect(task).toMatchObject({
      name: 'sort-array',
      max_iterations: 2,
      environment: { image: { kind: 'reference', reference: 'python' } },
    });
    expect(task?.verifier).toMatchObject({
      argv: ['python', '/tests/run.py'],
      files: null,
      live_processes: 'kill',
      merge_output: false,
      reward_format: 'reward_text',
    });
  });

  test('its command outranks tests/test.sh', () => {
    expect(map(minimal({})).task?.verifier?.argv).toEqual(['python', '/tests/run.py']);
  });

  test('an instruction with NUL characters, as UTF-16 reads, is warned of', () => {
    expect(map({}, { ...FOLDER, instruction: 'D\0o\0' }).issues).toMatchObject([
      { severity: 'warning', place: { file: 'instruction.md' } },
    ]);
  });

  test('what is written wrongly is not called missing, too', () => {
    expect(errors({ environment: { docker_image: 3 } }, { ...FOLDER, context: null, hasEnvironment: false })).toMatchObject([
      { path: 'environment.docker_image' },
    ]);
    expect(errors({}, BARE)).toMatchObject([{ message: 'this task has no environment' }, { message: 'this task brings no verifier' }]);
  });

  test('a string is no command, unless tests/test.sh is there, which then runs', () => {
    expect(errors({ verifier: { command: 'pytest' } }, BARE)).toMatchObject([
      { path: 'verifier.command', expected: 'an array of 1 to 64 strings', found: 'a string "pytest"' },
    ]);
    const { task, account } = map({ verifier: { command: 'pytest' } });
    expect(task?.verifier?.argv).toEqual(['/tests/test.sh']);
    expect(fate(account, 'verifier.command')?.fate).toBe('ignored');
  });

  test.each([[[]], [Array.from({ length: 65 }, () => 'x')], [['']], [['x'.repeat(4097)]], [['é'.repeat(2049)]], [['a\0b']], [[1]]])(
    'the command %j is refused',
    (command) => {
      expect(errors(minimal({ command }))).toMatchObject([{ path: expect.stringMatching(/^verifier\.command/) }]);
    },
  );

  test.each([0, 21, 2.5, '2', true, Number.NaN, 1e300, [1]])('max_iterations = %j is refused', (max_iterations) => {
    expect(errors(minimal({}, { max_iterations }))).toMatchObject([{ path: 'max_iterations', expected: 'a whole number from 1 to 20' }]);
  });

  test('[task] name outranks name', () => {
    const { task, account } = map(minimal({}, { name: 'short', task: { name: 'org/long' } }));
    expect(task?.name).toBe('org/long');
    expect(fate(account, 'name')?.fate).toBe('ignored');
  });

  test('two images are an error, one image twice is none', () => {
    expect(errors({ environment: { image: 'a', docker_image: 'b' } })).toMatchObject([{ path: 'environment.image' }]);
    expect(errors({ environment: { image: 'a', docker_image: 'a' } })).toEqual([]);
  });

  test.each([
    [{ reward_range: [1, 0] }, 'verifier.reward_range'],
    [{ reward_range: [0, Number.POSITIVE_INFINITY] }, 'verifier.reward_range'],
    [{ reward_range: [0, 10], pass_threshold: 11 }, 'verifier.pass_threshold'],
    [{ pass_threshold: -0.1 }, 'verifier.pass_threshold'],
    [{ reward_format: 'exit' }, 'verifier.reward_format'],
    [{ reward_key: '' }, 'verifier.reward_key'],
    [{ live_processes: 'contest' }, 'verifier.live_processes'],
  ])('%j is refused', (verifier, path) => {
    expect(errors(minimal(verifier))).toMatchObject([{ path }]);
  });

  test('the threshold is the maximum of the range unless written', () => {
    expect(map(minimal({ reward_range: [-1, 4] })).task?.verifier).toMatchObject({ reward_range: [-1, 4], pass_threshold: 4 });
  });

  test('exit_code is chosen by the task alone', () => {
    expect(map(minimal({ reward_format: 'exit_code' })).task?.verifier?.reward_format).toBe('exit_code');
  });

  test('an entry file that is no text is refused', () => {
    const folder = { ...FOLDER, tests: { tree: tree('/t', entry('run.py', { asset: true })), script: null } };
    expect(errors(minimal({}), folder)).toMatchObject([{ path: 'verifier.command[1]', found: 'tests/run.py, 10 bytes' }]);
  });
});

test('parts of an artifact that have no effect are told as ignored', () => {
  const { account, issues } = map({ artifacts: ['/b', { source: '/a', destination: 'c', exclude: ['*.log'] }] }, FOLDER);
  expect(account.filter((entry) => entry.fate === 'ignored').map((entry) => entry.path)).toEqual([
    'artifacts[1].destination',
    'artifacts[1].exclude',
  ]);
  expect(issues.map((issue) => issue.path)).toContain('artifacts[1].exclude');
});

describe('what this build cannot honour is refused by the name of its capability', () => {
  test.each<[string, Table, Partial<HarborFolder>]>([
    ['multi_step', { steps: [{ name: 'one' }] }, {}],
    ['compose', {}, { hasCompose: true }],
    ['compose', { artifacts: [{ source: '/a', service: 'db' }] }, {}],
    ['load_trajectory', {}, { hasTrajectory: true }],
    ['separate_verifier', { verifier: { environment_mode: 'separate' } }, {}],
    ['separate_verifier', { verifier: { environment: {} } }, {}],
    ['collect_hooks', { verifier: { collect: [{ command: 'x' }] } }, {}],
    ['mcp_servers', { environment: { mcp_servers: [{ name: 'a', url: 'http://a' }] } }, {}],
    ['skills', { environment: { skills_dir: '/skills' } }, {}],
    ['windows', { environment: { os: 'Windows' } }, {}],
    ['tpu', { environment: { tpu: { type: 'v6e', topology: '2x4' } } }, {}],
    ['gpus', { environment: { gpus: 1 } }, {}],
    ['allowlist', { environment: { network_mode: 'allowlist' } }, {}],
    ['phase_network', { agent: { network_mode: 'no-network' } }, {}],
    ['host_env', { verifier: { env: { A: '${A}' } } }, {}],
  ])('%s: %j', (capability, value, folder) => {
    const { task, issues } = map(value, { ...FOLDER, ...folder });
    expect(task).toBeNull();
    expect(issues.map((issue) => issue.hint)).toContain(`Capability ${capability} is not on in this build`);
  });

  test('what asks for nothing of it is not refused', () => {
    const value = {
      steps: [],
      environment: { gpus: 0, mcp_servers: [], skills_dir: '', env: { A: '${B:-c}', D: 'x${D}' }, network_mode: 'no-network' },
      agent: { network_mode: 'no-network' },
      verifier: { environment_mode: 'shared', collect: [] },
      solution: { env: { KEY: '${KEY}' } },
    };
    const { task, issues } = map(value);
    expect(issues.filter((issue) => issue.severity === 'error')).toEqual([]);
    expect(task?.environment).toMatchObject({ env: { A: 'c', D: 'x${D}' }, network: { mode: 'none', explicit: true } });
    expect(task?.solution?.env).toEqual({ KEY: '${KEY}' });
  });
});

describe('the digest', () => {
  const digest = (value: Table, folder = FOLDER) => map(value, folder).task?.digest;
  const base = digest({});

  test.each<[string, Table, Partial<HarborFolder>]>([
    ['instruction', {}, { instruction: 'Other.' }],
    ['test content', {}, { tests: { ...FOLDER.tests, tree: tree('/t', entry('test.sh', { sha256: 'other' }), entry('cases.json')) } }],
    ['test mode', {}, { tests: { ...FOLDER.tests, tree: tree('/t', entry('test.sh'), entry('cases.json', { mode: 0o755 })) } }],
    ['context', {}, { context: tree('/e', entry('Dockerfile', { sha256: 'other' })) }],
    ['solution', {}, { solution: { ...FOLDER.solution, tree: tree('/s', entry('solve.sh', { sha256: 'other' })) } }],
    ['a limit', { agent: { timeout_sec: 1 } }, {}],
    ['the environment', { environment: { env: { A: 'b' } } }, {}],
    ['the threshold', { verifier: { pass_threshold: 0.5 } }, {}],
  ])('covers %s', (_, value, folder) => {
    expect(digest(value, { ...FOLDER, ...folder })).not.toBe(base);
  });

  test('is that of the content, not of the place or of descriptions', () => {
    expect(digest({ metadata: { difficulty: 'easy' } }, { ...FOLDER, path: '/elsewhere' })).toBe(base);
    expect(digest({ environment: { env: { A: '1', B: '2' } } })).toBe(digest({ environment: { env: { B: '2', A: '1' } } }));
  });
});

describe('every key of a source has one fate', () => {
  const WORDS = [
    'name',
    'version',
    'task',
    'agent',
    'verifier',
    'environment',
    'steps',
    'artifacts',
    'metadata',
    'env',
    'command',
    'cpus',
    'memory',
    'memory_mb',
  ];
  const MORE = [
    'timeout_sec',
    'user',
    'network_mode',
    'allowed_hosts',
    'allow_internet',
    'image',
    'docker_image',
    'healthcheck',
    'tpu',
    'collect',
    'source',
  ];
  const key = fc.constantFrom(
    ...WORDS,
    ...MORE,
    'max_iterations',
    'reward_range',
    'schema_version',
    'unknown',
    '__proto__',
    'constructor',
    'a b',
    '',
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('public', 'a', '', '${X}', '2G', 0, 1, 2.5, -1, Number.NaN, true, false, 2n ** 70n, new Date(0)),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  }));

  test('in the account or under an issue, and in the account at most once', () => {
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 6 }), (source) => {
        const { account, issues } = map(source);
        const paths = account.map((one) => one.path);
        expect(new Set(paths).size).toBe(paths.length);
        for (const leaf of leavesOf(source, '')) {
          const above = paths.filter((path) => isAtOrBelow(leaf, path));
          const below = paths.filter((path) => isAtOrBelow(path, leaf));
          const said = issues.some((issue) => issue.path !== '' && (isAtOrBelow(leaf, issue.path) || isAtOrBelow(issue.path, leaf)));
          expect(above.length, `${leaf} of ${JSON.stringify(paths)}`).toBeLessThanOrEqual(1);
          expect(above.length === 1 || below.length > 0 || said, `${leaf} has no fate`).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** Paths of everything that is no table with keys, as far as tables and arrays of tables go. */
function leavesOf(value: unknown, path: string): string[] {
  if (isTable(value) && (path === '' || Object.keys(value).length > 0)) {
    return Object.entries(value).flatMap(([key, item]) => leavesOf(item, childPath(path, key)));
  }
  if (Array.isArray(value) && value.length > 0 && value.every(isTable))
    return value.flatMap((item, index) => leavesOf(item, itemPath(path, index)));
  return [path];
}
