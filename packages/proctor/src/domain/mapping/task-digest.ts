import type { Hash } from '../canonical-json.ts';
import type { EnvironmentIntent, FileTree, Limits, Solution, Task, VerifierContract } from '../task.ts';

type Covered = Omit<Task, 'digest' | 'provenance' | 'description' | 'tags' | 'source_fields'>;

/**
 * SHA-256 over everything that can change a trial. Where the folder lies, and what only describes the task, is left out. The types make a new field
 * of a Task a decision here. Fields stand in the order written below, which is quicker than sorting them and as stable.
 */
export function taskDigest(task: Covered, hash: Hash): string {
  const covered = {
    name: task.name,
    format: task.format,
    instruction: task.instruction,
    rubric: task.rubric,
    environment: coverEnvironment(task.environment),
    agent: [task.agent.user, coverNetwork(task.agent.network)],
    verifier: task.verifier === null ? null : coverVerifier(task.verifier),
    max_iterations: task.max_iterations,
    limits: coverLimits(task.limits),
    solution: task.solution === null ? null : coverSolution(task.solution),
    artifacts: task.artifacts.map(({ source, destination, exclude }) => [source, destination, exclude]),
  } satisfies Record<keyof Covered, unknown>;
  return hash(JSON.stringify(covered));
}

function coverEnvironment(environment: EnvironmentIntent): Record<keyof EnvironmentIntent, unknown> {
  const { image, healthcheck, tpu } = environment;
  return {
    image: image?.kind === 'build' ? [image.kind, image.dockerfile, contentOf(image.context)] : image && [image.kind, image.reference],
    workdir: environment.workdir,
    env: sortedEntries(environment.env),
    user: environment.user,
    cpus: environment.cpus,
    memory_mb: environment.memory_mb,
    storage_mb: environment.storage_mb,
    gpus: environment.gpus,
    gpu_types: environment.gpu_types,
    os: environment.os,
    tpu: tpu && [tpu.type, tpu.topology],
    network: [coverNetwork(environment.network), environment.network.explicit],
    healthcheck: healthcheck && sortedEntries(healthcheck),
    upload: contentOf(environment.upload),
  };
}

function coverVerifier(verifier: VerifierContract): Record<keyof VerifierContract, unknown> {
  return {
    argv: verifier.argv,
    files: contentOf(verifier.files),
    target: verifier.target,
    env: sortedEntries(verifier.env),
    user: verifier.user,
    workdir: verifier.workdir,
    reward_format: verifier.reward_format,
    reward_key: verifier.reward_key,
    reward_range: verifier.reward_range,
    pass_threshold: verifier.pass_threshold,
    live_processes: verifier.live_processes,
    network: coverNetwork(verifier.network),
    merge_output: verifier.merge_output,
  };
}

function coverLimits(limits: Limits): Record<keyof Limits, unknown> {
  return {
    agent_timeout_ms: limits.agent_timeout_ms,
    agent_setup_timeout_ms: limits.agent_setup_timeout_ms,
    verifier_timeout_ms: limits.verifier_timeout_ms,
    build_timeout_ms: limits.build_timeout_ms,
  };
}

function coverSolution(solution: Solution): Record<keyof Solution, unknown> {
  return { argv: solution.argv, files: contentOf(solution.files), target: solution.target, env: sortedEntries(solution.env) };
}

function coverNetwork(network: { mode: string; hosts: readonly string[] } | null): unknown {
  return network && [network.mode, network.hosts];
}

function sortedEntries(record: Readonly<Record<string, unknown>>): [string, unknown][] {
  const entries = Object.entries(record);
  return entries.length < 2 ? entries : entries.sort(([left], [right]) => (left < right ? -1 : 1));
}

function contentOf(tree: FileTree | null): string | null {
  return tree === null ? null : tree.digest;
}
