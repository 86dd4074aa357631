import type { HarborConfig } from './harbor-config.ts';
import { childPath, itemPath } from './key-path.ts';
import type { MappingLog } from './mapping-log.ts';

/** Parts of the format that this build cannot honour, each refused by the name of its capability. */
export function refuseWhatIsOff(config: HarborConfig, folder: { hasCompose: boolean; hasTrajectory: boolean }, log: MappingLog): void {
  const { environment, agent, verifier } = config;
  if (config.steps !== null && config.steps.length > 0) log.refuse('steps', 'a task of several steps', 'multi_step');
  if (folder.hasCompose) log.refuse('', 'a task with compose services', 'compose', { place: inFile('environment/docker-compose.yaml') });
  if (folder.hasTrajectory) log.refuse('', 'a task that begins with a trajectory', 'load_trajectory', { place: inFile('trajectory.json') });
  if (verifier.environment !== null) log.refuse('verifier.environment', 'a verifier with a sandbox of its own', 'separate_verifier');
  else if (verifier.environment_mode === 'separate')
    log.refuse('verifier.environment_mode', 'a verifier with a sandbox of its own', 'separate_verifier');
  if (verifier.collect.length > 0) log.refuse('verifier.collect', 'commands that collect before verification', 'collect_hooks');
  if (environment.mcp_servers.length > 0) log.refuse('environment.mcp_servers', 'MCP servers for the agent', 'mcp_servers');
  if (environment.skills_dir) log.refuse('environment.skills_dir', 'skills for the agent', 'skills');
  if (environment.os === 'windows') log.refuse('environment.os', 'a Windows task', 'windows');
  if (environment.tpu !== null) log.refuse('environment.tpu', 'a task that needs a TPU', 'tpu');
  if (environment.gpus !== null && environment.gpus > 0) log.refuse('environment.gpus', 'a task that needs GPUs', 'gpus');
  if (environment.network_mode === 'allowlist') log.refuse('environment.network_mode', 'a network with an allow-list', 'allowlist');
  refusePhaseNetwork('agent', agent.network_mode, environment.network_mode, log);
  refusePhaseNetwork('verifier', verifier.network_mode, environment.network_mode, log);
  refuseServices(config, log);
  refuseTemplates('environment.env', environment.env, log);
  refuseTemplates('verifier.env', verifier.env, log);
}

function inFile(file: string): { file: string; line: null; column: null } {
  return { file, line: null, column: null };
}

function refusePhaseNetwork(phase: 'agent' | 'verifier', mode: string | null, baseline: string, log: MappingLog): void {
  if (mode === 'allowlist') log.refuse(`${phase}.network_mode`, 'a network with an allow-list', 'allowlist');
  else if (mode !== null && mode !== baseline) {
    log.refuse(
      `${phase}.network_mode`,
      `a network of its own for the ${phase} (${mode} here, ${baseline} in [environment])`,
      'phase_network',
    );
  }
}

/** The first is enough: the task does not run. */
function refuseServices(config: HarborConfig, log: MappingLog): void {
  for (const [index, artifact] of config.artifacts.entries()) {
    if (typeof artifact === 'string' || artifact.service === null || artifact.service === 'main') continue;
    log.refuse(childPath(itemPath('artifacts', index), 'service'), 'an artifact of another service', 'compose');
    return;
  }
}

/** `${NAME}` as the whole value reads the host, which nobody has consented to; with a default, the default is used. */
function refuseTemplates(path: string, env: Readonly<Record<string, string>>, log: MappingLog): void {
  for (const [key, value] of Object.entries(env)) {
    const name = /^\$\{([^}:]+)\}$/s.exec(value)?.[1];
    if (name !== undefined) log.refuse(childPath(path, key), `a value from the host variable ${name}`, 'host_env');
  }
}
