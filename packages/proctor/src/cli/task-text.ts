import { type FieldAccount, formatIssue, type Issue } from '../domain/issue.ts';
import type { CompiledTask, Task, VerifierContract } from '../domain/task.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import { aligned, bytes, spell } from './columns.ts';
import type { Colors } from './terminal.ts';

/** What would run, for a person. Ignored and refused keys are always listed; taken and defaulted ones when asked for. */
export function taskText({ task, account }: CompiledTask, paint: Colors, options: { verbose: boolean }): string {
  const rows: [string, string][] = [
    ['format', withReason(task.format, task.provenance.schema_version === null ? null : `schema ${task.provenance.schema_version}`)],
    ['folder', task.provenance.path],
    ...(task.provenance.commit === null ? [] : [['commit', task.provenance.commit] satisfies [string, string]]),
    ['digest', task.digest],
    ['image', imageText(task)],
    [
      'workdir',
      task.environment.workdir === null
        ? "the image's WORKDIR, else /app (the task names none)"
        : `${task.environment.workdir} (the task names it)`,
    ],
    ...extraRows(task),
    ['network', networkText(task)],
    ['resources', resourcesText(task)],
    ['user', `${task.agent.user ?? task.environment.user ?? "the image's"}`],
    ['limits', limitsText(task, account)],
    ['iterations', task.max_iterations === null ? 'not declared: --max-iterations, else 1' : `at most ${task.max_iterations}`],
    ['verifier', task.verifier === null ? 'none: only a rubric grader could judge it' : verifierText(task.verifier)],
    ...(task.verifier === null ? [] : verifierRows(task.verifier)),
    [
      'solution',
      task.solution === null
        ? 'none: oracle cannot run it'
        : `${commandText(task.solution.argv)}, ${filesText(task.solution.files.files.length, task.solution.files.bytes)}`,
    ],
    ['artifacts', task.artifacts.length === 0 ? 'none declared' : task.artifacts.map((one) => one.source).join(', ')],
    ['tags', task.tags.length === 0 ? 'none' : task.tags.join(', ')],
  ];
  const assets = assetNames(task);
  if (assets.length > 0) rows.push(['assets', `${assets.join(', ')} (binary or above 1 MiB)`]);
  const lines = rows.map(([name, value]) => [paint.dim(name), terminalLine(value)]);
  return [
    `${paint.bold(terminalLine(task.name))}${task.description === null || task.description === '' ? '' : `  ${paint.dim(firstLine(task.description))}`}\n`,
    aligned(lines, '  '),
    `\n${paint.bold('Instruction')}\n${instructionText(task.instruction)}`,
    accountText(account, paint, options.verbose),
  ].join('');
}

export function issuesText(issues: readonly Issue[], paint: Colors): string {
  return issues
    .map(
      (issue) => `  ${issue.severity === 'error' ? paint.red('error  ') : paint.yellow('warning')}  ${terminalLine(formatIssue(issue))}\n`,
    )
    .join('');
}

/** What most tasks do not have. */
function extraRows({ environment }: Task): [string, string][] {
  const rows: [string, string][] = [];
  const { upload, healthcheck } = environment;
  const names = Object.keys(environment.env);
  if (upload !== null) rows.push(['uploads', `${filesText(upload.files.length, upload.bytes)} of environment/, into the workdir`]);
  if (names.length > 0) rows.push(['env', names.join(', ')]);
  if (healthcheck !== null)
    rows.push(['healthcheck', `${healthcheck.command} (every ${spell(healthcheck.interval_ms)}, ${healthcheck.retries} retries)`]);
  return rows;
}

function imageText(task: Task): string {
  const image = task.environment.image;
  if (image === null) return 'none';
  if (image.kind === 'reference') return image.reference;
  return `built from ${image.dockerfile} (context ${image.context.digest.slice(0, 12)}, ${filesText(image.context.files.length, image.context.bytes)}); not built here`;
}

function networkText(task: Task): string {
  const { mode, hosts, explicit } = task.environment.network;
  const allowed = mode === 'allowlist' ? `: ${hosts.length === 0 ? 'no host' : hosts.join(', ')}` : '';
  return withReason(`${mode}${allowed}`, explicit ? 'the task asks' : "the format's default");
}

function resourcesText({ environment }: Task): string {
  const asked = [
    environment.cpus === null ? null : `${environment.cpus} ${environment.cpus === 1 ? 'cpu' : 'cpus'}`,
    environment.memory_mb === null ? null : `${bytes(environment.memory_mb * 1024 ** 2)} memory`,
    environment.storage_mb === null ? null : `${bytes(environment.storage_mb * 1024 ** 2)} storage`,
    environment.gpus === null || environment.gpus === 0
      ? null
      : `${environment.gpus} gpus${environment.gpu_types === null ? '' : ` (${environment.gpu_types.join(', ')})`}`,
    environment.os === 'linux' ? null : environment.os,
  ].filter((one) => one !== null);
  return asked.length === 0 ? 'none declared' : asked.join(', ');
}

function limitsText(task: Task, account: readonly FieldAccount[]): string {
  const marked = (value: number | null, key: RegExp) => {
    const field = account.find((one) => key.test(one.path));
    const text = value === null ? 'no limit' : spell(value);
    return field === undefined || field.fate === 'defaulted' ? withReason(text, field?.reason ?? 'default') : text;
  };
  return [
    `agent ${marked(task.limits.agent_timeout_ms, /^agent\.timeout_sec$|^max_agent_timeout_sec$/)}`,
    `verifier ${marked(task.limits.verifier_timeout_ms, /^verifier\.timeout_sec$|^max_test_timeout_sec$/)}`,
    `build ${marked(task.limits.build_timeout_ms, /build_timeout_sec$/)}`,
    `agent setup ${spell(task.limits.agent_setup_timeout_ms)}`,
  ].join(' · ');
}

function verifierText(verifier: VerifierContract): string {
  const files =
    verifier.files === null
      ? 'tests are in the image'
      : `${filesText(verifier.files.files.length, verifier.files.bytes)} in ${verifier.target}, hidden from the agent`;
  return `${commandText(verifier.argv)} — ${files}`;
}

function verifierRows(verifier: VerifierContract): [string, string][] {
  const [from, to] = verifier.reward_range;
  const key = verifier.reward_key === null ? '' : `, headline ${verifier.reward_key}`;
  return [
    [
      'reward',
      `${verifier.reward_format}, from ${from} to ${to}, passes at ${verifier.pass_threshold}${key}; processes left alive: ${verifier.live_processes}`,
    ],
  ];
}

function assetNames(task: Task): string[] {
  const trees = [task.verifier?.files ?? null, task.solution?.files ?? null];
  return trees.flatMap((tree) => (tree === null ? [] : tree.files.filter((file) => file.asset).map((file) => file.path)));
}

function accountText(account: readonly FieldAccount[], paint: Colors, verbose: boolean): string {
  const shown = account.filter((field) => verbose || field.fate === 'ignored' || field.fate === 'refused');
  const count = (fate: FieldAccount['fate']) => account.filter((field) => field.fate === fate).length;
  const total = `${count('taken')} taken, ${count('defaulted')} defaulted, ${count('ignored')} ignored, ${count('refused')} refused`;
  const fate = { taken: paint.green, defaulted: paint.dim, ignored: paint.yellow, refused: paint.red };
  const rows = shown.map((field) => [
    fate[field.fate](field.fate),
    terminalLine(field.path),
    terminalLine(
      [field.value === undefined ? null : shortened(JSON.stringify(field.value)), field.reason ?? null]
        .filter((part) => part !== null)
        .join(' — '),
    ),
  ]);
  return `\n${paint.bold('Keys')}  ${total}${verbose ? '' : paint.dim('  (--verbose lists all)')}\n${aligned(rows, '  ')}`;
}

function instructionText(instruction: string): string {
  const lines = instruction.trimEnd().split('\n');
  const more = lines.length > INSTRUCTION_LINES ? `  … ${lines.length - INSTRUCTION_LINES} more lines\n` : '';
  return `${lines
    .slice(0, INSTRUCTION_LINES)
    .map((line) => `  ${shortened(terminalLine(line), 160)}`.trimEnd())
    .join('\n')}\n${more}`;
}

function commandText(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}

function filesText(count: number, size: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'}, ${bytes(size)}`;
}

function withReason(value: string, reason: string | null): string {
  return reason === null || reason === '' ? value : `${value} (${reason})`;
}

function firstLine(text: string): string {
  return shortened(terminalLine(text.trim().split('\n')[0] ?? ''), 100);
}

function shortened(text: string | undefined, length = 80): string {
  const whole = text ?? '';
  return whole.length > length ? `${whole.slice(0, length - 1)}…` : whole;
}

const INSTRUCTION_LINES = 12;
