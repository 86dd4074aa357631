import type { Hash } from '../canonical-json.ts';
import type { Artifact, FileTree, Provenance, Solution, Task } from '../task.ts';
import { stripCanary } from './canary.ts';
import { findFile, withExecutable } from './file-tree.ts';
import type { HarborConfig } from './harbor-config.ts';
import { environmentIntent, milliseconds, phaseNetworkOrNone } from './harbor-environment-intent.ts';
import { refuseWhatIsOff } from './harbor-refusals.ts';
import { type HarborTests, verifierContract } from './harbor-verifier-contract.ts';
import { itemPath } from './key-path.ts';
import type { MappingLog } from './mapping-log.ts';
import { scriptArgv } from './script-entry.ts';
import { taskDigest } from './task-digest.ts';

/** What lies beside a task.toml, as the edge read it. */
export type HarborFolder = {
  name: string;
  path: string;
  instruction: string | null;
  /** Null = there is no environment/, or its content plays no part. */
  context: FileTree | null;
  hasEnvironment: boolean;
  hasCompose: boolean;
  hasTrajectory: boolean;
  tests: HarborTests;
  solution: { tree: FileTree | null; script: string | null };
};

/** Harbor's agents have no limit of their own accord; a Task of this format gets one. */
export const DEFAULT_AGENT_TIMEOUT_SEC = 900;
const AGENT_SETUP_TIMEOUT_SEC = 360;

/** The Task of a Harbor folder, or null where the log holds an error. Pure: the hash function is passed in. */
export function mapHarbor(config: HarborConfig, folder: HarborFolder, log: MappingLog, hash: Hash): Task | null {
  refuseWhatIsOff(config, folder, log);
  const isMultiStep = config.steps !== null && config.steps.length > 0;
  const instruction = isMultiStep ? '' : mapInstruction(folder.instruction, log);
  requireEnvironment(config, folder, log);
  const user = config.agent.user === '' ? null : config.agent.user;
  const environment = environmentIntent(config.environment, folder.context, log);
  const verifier = isMultiStep ? null : verifierContract(config, folder.tests, environment.workdir, log, hash);
  const artifacts = mapArtifacts(config, environment.workdir, log);
  if (config.agent.timeout_sec === null && !log.hasErrors) {
    log.defaulted(
      'agent.timeout_sec',
      DEFAULT_AGENT_TIMEOUT_SEC,
      `not written: ${DEFAULT_AGENT_TIMEOUT_SEC} s; Harbor itself sets no limit`,
    );
  }
  if (log.hasErrors) return null;
  const task: Omit<Task, 'digest'> = {
    name: config.task?.name ?? config.name ?? folder.name,
    format: 'harbor',
    instruction,
    rubric: RUBRIC,
    environment,
    agent: { user, network: phaseNetworkOrNone(config.agent) },
    verifier,
    max_iterations: config.max_iterations,
    limits: {
      agent_timeout_ms: milliseconds(config.agent.timeout_sec ?? DEFAULT_AGENT_TIMEOUT_SEC),
      agent_setup_timeout_ms: milliseconds(AGENT_SETUP_TIMEOUT_SEC),
      verifier_timeout_ms: milliseconds(config.verifier.timeout_sec),
      build_timeout_ms: milliseconds(config.environment.build_timeout_sec),
    },
    solution: mapSolution(config, folder, log, hash),
    artifacts,
    tags: mapTags(config),
    description: config.task?.description || null,
    provenance: provenanceOf(config, folder),
    source_fields: log.carried,
  };
  return { ...task, digest: taskDigest(task, hash) };
}

const RUBRIC =
  'Judge the work as it stands now against the description of the task. Every requirement that the description states, or that plainly follows ' +
  'from it, must hold in the files and deliverables. What the agent says of its own work is no evidence. Name each requirement that is not met, ' +
  'and what shows it.';

function provenanceOf(config: HarborConfig, folder: HarborFolder): Provenance {
  return { format: 'harbor', path: folder.path, commit: null, schema_version: config.schema_version };
}

function mapInstruction(text: string | null, log: MappingLog): string {
  const place = { file: 'instruction.md', line: null, column: null };
  if (text === null) {
    log.missing('this task has no instruction', { expected: 'a file instruction.md', found: 'nothing', place });
    return '';
  }
  const instruction = stripCanary(text);
  if (instruction.trim() === '')
    log.error('', 'the instruction is empty', { expected: 'the prompt for the agent', found: 'no text', place });
  if (instruction.includes('\0'))
    log.warn('', 'the instruction holds NUL characters, and no environment variable can', {
      hint: 'If it was saved as UTF-16, save it as UTF-8',
      place,
    });
  return instruction;
}

function requireEnvironment(config: HarborConfig, folder: HarborFolder, log: MappingLog): void {
  if (!config.environment.docker_image && (folder.hasEnvironment || config.live.command !== null)) sayWhichImage(config, folder, log);
  if (folder.hasEnvironment || config.environment.docker_image || config.live.command !== null) return;
  const detail = {
    expected: 'a folder environment/, or [environment] docker_image',
    found: 'neither',
    place: { file: 'environment', line: null, column: null },
  };
  log.missing('this task has no environment', detail, ['environment.docker_image', 'environment.image', 'verifier.command']);
}

function sayWhichImage(config: HarborConfig, folder: HarborFolder, log: MappingLog): void {
  const written = config.environment.docker_image === '' ? 'empty' : 'not written';
  if (findFile(folder.context, 'Dockerfile') !== null) {
    log.redefault('environment.docker_image', null, `${written}: environment/Dockerfile is built`);
    return;
  }
  log.redefault('environment.docker_image', null, `${written}, no environment/Dockerfile: an image template, or a sandbox without images`);
  if (config.live.command !== null || folder.hasCompose) return;
  log.warn('environment', 'this task names no image', {
    hint: 'Write [environment] docker_image or environment/Dockerfile, or pass an image template',
  });
}

function mapSolution(config: HarborConfig, folder: HarborFolder, log: MappingLog, hash: Hash): Solution | null {
  const { tree, script } = folder.solution;
  if (tree === null || findFile(tree, 'solve.sh') === null) return null;
  const place = { file: 'solution/solve.sh', line: null, column: null };
  return {
    argv: scriptArgv('/solution/solve.sh', script, place, log),
    files: withExecutable(tree, 'solve.sh', hash),
    target: '/solution',
    env: config.solution.env,
  };
}

function mapArtifacts(config: HarborConfig, workdir: string | null, log: MappingLog): Artifact[] {
  return config.artifacts.flatMap((artifact, index) => {
    const { source, destination, exclude } = typeof artifact === 'string' ? { source: artifact, destination: null, exclude: [] } : artifact;
    if (destination !== null) log.setAside(`${itemPath('artifacts', index)}.destination`, 'what is kept is named by its source');
    if (exclude.length > 0) {
      log.setAside(`${itemPath('artifacts', index)}.exclude`, 'a directory is kept whole');
      log.warn(`${itemPath('artifacts', index)}.exclude`, 'without effect: a directory is kept whole, up to 64 MiB');
    }
    if (source.startsWith('/')) return { source, destination, exclude };
    if (workdir !== null && source !== '') return { source: `${workdir.replace(/\/$/, '')}/${source}`, destination, exclude };
    log.setAside(itemPath('artifacts', index), 'its source is relative and [environment] workdir is not written');
    log.warn(itemPath('artifacts', index), 'not kept: its source is relative and [environment] workdir is not written', {
      expected: 'an absolute path',
      found: JSON.stringify(source),
    });
    return [];
  });
}

/** Difficulty first, then the task's own tags, then the package's keywords. */
function mapTags(config: HarborConfig): string[] {
  const { difficulty, tags } = config.metadata;
  const words: unknown[] = [difficulty, ...(Array.isArray(tags) ? tags : [tags]), ...(config.task?.keywords ?? [])];
  return [...new Set(words.filter((word): word is string => typeof word === 'string' && word.trim() !== ''))];
}
