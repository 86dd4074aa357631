import type { Hash } from '../canonical-json.ts';
import type { FileTree, VerifierContract } from '../task.ts';
import { findFile, withExecutable } from './file-tree.ts';
import type { HarborConfig } from './harbor-config.ts';
import { literalEnvironment, phaseNetworkOrNone } from './harbor-environment-intent.ts';
import type { MappingLog } from './mapping-log.ts';
import { scriptArgv } from './script-entry.ts';

export type HarborTests = { tree: FileTree | null; script: string | null };

/** `[verifier] command`, else tests/test.sh run as Harbor runs it. Null = there is neither, and the log says so. */
export function verifierContract(
  config: HarborConfig,
  tests: HarborTests,
  workdir: string | null,
  log: MappingLog,
  hash: Hash,
): VerifierContract | null {
  const { verifier, live } = config;
  const isMinimal = live.command !== null;
  const entry = live.command === null ? testScript(tests, log, hash) : commandEntry(live.command, tests, log);
  if (live.live_processes === null) {
    const why = isMinimal ? 'not written: the default beside command' : "not written: Harbor's own runner keeps them";
    log.defaulted('verifier.live_processes', isMinimal ? 'kill' : 'keep', why);
  }
  if (entry === null) return null;
  return {
    argv: entry.argv,
    files: entry.files,
    target: '/tests',
    env: literalEnvironment('verifier.env', verifier.env, log),
    user: verifier.user === '' ? null : verifier.user,
    workdir,
    reward_format: live.reward_format,
    reward_key: live.reward_key,
    reward_range: live.reward_range,
    pass_threshold: live.pass_threshold,
    live_processes: live.live_processes ?? (isMinimal ? 'kill' : 'keep'),
    network: phaseNetworkOrNone(verifier),
    merge_output: !isMinimal,
  };
}

type Entry = { argv: string[]; files: FileTree | null };

function testScript(tests: HarborTests, log: MappingLog, hash: Hash): Entry | null {
  const place = { file: 'tests/test.sh', line: null, column: null };
  if (tests.tree === null || findFile(tests.tree, 'test.sh') === null) {
    const detail = { expected: 'tests/test.sh, or [verifier] command in task.toml', found: 'neither', place };
    log.missing('this task brings no verifier', detail, ['verifier.command']);
    return null;
  }
  return { argv: scriptArgv('/tests/test.sh', tests.script, place, log), files: withExecutable(tests.tree, 'test.sh', hash) };
}

function commandEntry(command: readonly string[], tests: HarborTests, log: MappingLog): Entry {
  for (const [index, item] of command.entries()) {
    if (!item.startsWith('/tests/') || tests.tree === null) continue;
    const path = item.slice('/tests/'.length);
    const file = findFile(tests.tree, path);
    const at = `verifier.command[${index}]`;
    if (file === null) log.warn(at, `there is no tests/${path} in this task`, { hint: 'The image must hold it' });
    else if (file.asset) {
      log.error(at, 'the entry file of a verifier must be text', {
        expected: 'valid UTF-8 of at most 1 MiB',
        found: `tests/${path}, ${file.bytes} bytes`,
      });
    } else if (index === 0 && (file.mode & 0o111) === 0) {
      log.warn(at, `tests/${path} is not executable`, { hint: `Run chmod +x tests/${path}, or name its interpreter first` });
    }
  }
  return { argv: [...command], files: tests.tree };
}
