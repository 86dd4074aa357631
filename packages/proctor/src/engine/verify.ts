import type { EventData } from '../domain/events.ts';
import type { Redaction } from '../domain/redaction.ts';
import type { Task, VerifierContract } from '../domain/task.ts';
import type { TestCounts } from '../domain/test-results.ts';
import { readTestResults } from '../domain/test-results.ts';
import type { RewardReading } from '../domain/verdict.ts';
import type { Exit, LeftProcess, Sandbox, SandboxLease } from '../sandbox.ts';
import { collect, packEntries, type ReadEntry, readEntries } from '../system/tar.ts';
import type { TreeContent } from '../system/tree-content.ts';
import { type KeptOutput, keepOutput } from './kept-output.ts';
import { OutputKeeper } from './output-keeper.ts';
import type { EngineParts } from './parts.ts';
import { placedArgv, placeVariables } from './places.ts';
import { emptied, treeEntries, VERDICT_DIRECTORY } from './verdict-files.ts';

const OUTPUT_BYTES = 1024 * 1024;
const FILE_BYTES = 1024 * 1024;

export type Verification = {
  contract: VerifierContract;
  task: Task | null;
  lease: SandboxLease;
  /** The directory as the image holds it, from a lease that nobody worked on; null = it has none. */
  ofImage: OriginalTree;
  workdir: string;
  rewardKey: string | null;
  timeLimitMs: number;
  /** Processes of the agent that may stay; whatever else is alive after the verifier ends with it. */
  kept: readonly LeftProcess[];
  redaction: Redaction;
  signal: AbortSignal;
};

export type Verified = {
  exit: Exit;
  durationMs: number;
  reading: RewardReading;
  output: KeptOutput | null;
  outputTail: string;
  files: EventData<'verifier.completed'>['files'];
  tests: TestCounts | null;
  /** Verdict files whose time is after the verifier's end: somebody else wrote them. */
  rewritten: string[];
};

/** One verification in one sandbox: new verdict directory, verifier files, the verifier, its reward. Decides nothing about the Outcome. */
export async function verify(parts: EngineParts, content: TreeContent, verification: Verification): Promise<Verified> {
  const { contract, lease, workdir, signal } = verification;
  const { sandbox } = lease;
  await prepare(sandbox, contract, content, verification.ofImage);
  const keeper = new OutputKeeper(OUTPUT_BYTES);
  const stdout = verification.redaction.stream();
  const stderr = verification.redaction.stream();
  const start = parts.clock.elapsed();
  const cwd = contract.workdir ?? workdir;
  await makeSureOf(sandbox, cwd);
  const exit = await sandbox.exec(placedArgv(contract.argv, sandbox, workdir), {
    user: contract.user,
    cwd,
    env: { ...contract.env, ...placeVariables(sandbox, workdir) },
    timeLimitMs: verification.timeLimitMs,
    stdout: (chunk) => keeper.push(stdout.push(chunk)),
    stderr: (chunk) => keeper.push(stderr.push(chunk)),
    signal,
  });
  keeper.push(stdout.end());
  keeper.push(stderr.end());
  const durationMs = Math.round(parts.clock.elapsed() - start);
  const endedAt = parts.clock.now().getTime();
  if (exit.kind !== 'lost') await endWhatItStarted(lease, verification.kept);
  const entries = exit.kind === 'lost' ? [] : await readVerdictDirectory(lease);
  const files = new Map(entries.filter((entry) => entry.type === 'file').map((entry) => [entry.path, entry.content]));
  return {
    exit,
    durationMs,
    reading: readReward(parts, verification, exit, files),
    output: await keepOutput(parts.store, keeper),
    outputTail: Buffer.from(keeper.bytes()).toString('utf8'),
    files: await keepFiles(parts, entries, verification.redaction),
    tests: readTestResults(files, Buffer.from(keeper.bytes()).toString('utf8')),
    rewritten:
      verification.kept.length === 0
        ? []
        : entries
            .filter((entry) => entry.type === 'file' && entry.mtimeMs !== null && entry.mtimeMs > endedAt + 1000)
            .map((entry) => entry.path),
  };
}

/** An agent that removed the directory where its check starts must not thereby leave the denominator: it is there again, and empty. */
async function makeSureOf(sandbox: Sandbox, directory: string): Promise<void> {
  if ((await sandbox.realPath(directory)) !== null) return;
  await sandbox.upload(await collect(packEntries([{ path: directory.replace(/^\/+/, ''), type: 'directory', mode: 0o755 }])), '/');
}

/** Names in the verdict directory now; `files` are those that could be read as a reward. */
export async function readVerdictDirectory(lease: SandboxLease): Promise<ReadEntry[]> {
  const tar = await lease.sandbox.download(VERDICT_DIRECTORY);
  if (tar === null) return [];
  const entries = await readEntries(tar, { maxFileBytes: FILE_BYTES, maxFiles: 2000 });
  return entries.map((entry) => ({ ...entry, path: entry.path.replace(/^\/?[^/]*\/?/, '') })).filter((entry) => entry.path !== '');
}

/** The entries that take verifier files away again, for a sandbox in which the agent will work on. */
export async function removeVerifierFiles(lease: SandboxLease, contract: VerifierContract): Promise<void> {
  await prepare(lease.sandbox, contract, null, originalTreeOf(lease));
}

type OriginalTree = (path: string) => Promise<AsyncIterable<Uint8Array> | null>;

export function originalTreeOf(lease: SandboxLease): OriginalTree {
  return async (path) => (await lease.originalTree?.(path)) ?? null;
}

/** New directories; what the image itself has of the check comes back before the task's files lie over it, and nothing that the agent put there. */
async function prepare(sandbox: Sandbox, contract: VerifierContract, content: TreeContent | null, ofImage: OriginalTree): Promise<void> {
  const verdicts = emptied(VERDICT_DIRECTORY, 0o777);
  const { files, target } = contract;
  if (files === null) return await sandbox.upload(await collect(packEntries(verdicts)), '/');
  const baked = await ofImage(target);
  const place = emptied(target, 0o755);
  const hidden = content === null ? [] : treeEntries(files, target, content.of(files));
  if (baked === null) return await sandbox.upload(await collect(packEntries([...verdicts, ...place, ...hidden])), '/');
  await sandbox.upload(await collect(packEntries([...verdicts, ...place])), '/');
  await sandbox.upload(baked, target);
  await sandbox.upload(await collect(packEntries(hidden)), '/');
}

/** What the agent left may go on, and what that forks (a server's workers) belongs to it. */
async function endWhatItStarted(lease: SandboxLease, kept: readonly LeftProcess[]): Promise<void> {
  const now = await lease.left();
  const spared = new Set(kept.map((process) => process.pid));
  for (let grown = -1; grown !== spared.size; ) {
    grown = spared.size;
    for (const process of now) if (spared.has(process.parent)) spared.add(process.pid);
  }
  const strays = now.filter((process) => !spared.has(process.pid));
  if (strays.length > 0) await lease.signal(strays, 'kill');
}

function readReward(
  parts: EngineParts,
  verification: Verification,
  exit: Exit,
  files: ReadonlyMap<string, Uint8Array | null>,
): RewardReading {
  const { contract } = verification;
  if (exit.kind === 'timed_out')
    return {
      kind: 'unreadable',
      reason: 'verifier_timed_out',
      detail: `the verifier passed its limit of ${verification.timeLimitMs / 1000} s`,
    };
  if (exit.kind === 'signalled')
    return { kind: 'unreadable', reason: 'verifier_killed', detail: `the verifier was ended by ${exit.signal}` };
  if (exit.kind === 'not_started') return { kind: 'unreadable', reason: 'verifier_not_started', detail: exit.reason };
  if (exit.kind === 'lost') return { kind: 'unreadable', reason: 'verifier_infrastructure', detail: exit.cause };
  if (exit.kind === 'aborted') return { kind: 'unreadable', reason: 'verifier_killed', detail: 'the verification was interrupted' };
  const format = parts.rewardFormat(contract.reward_format);
  if (format === null)
    return { kind: 'unreadable', reason: 'reward_unreadable', detail: `unknown reward format ${contract.reward_format}` };
  return format.read({ files, exitCode: exit.code, range: contract.reward_range, key: verification.rewardKey ?? contract.reward_key });
}

async function keepFiles(parts: EngineParts, entries: readonly ReadEntry[], redaction: Redaction): Promise<Verified['files']> {
  const files = entries.filter((entry) => entry.type === 'file').slice(0, 200);
  return Promise.all(
    files.map(async (entry) => ({
      path: entry.path,
      bytes: entry.size,
      sha256: entry.content === null ? null : (await parts.store.putBlob(redaction.bytes(entry.content))).sha256,
    })),
  );
}
