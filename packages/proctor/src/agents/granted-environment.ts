import type { MakeContext } from '../agent.ts';
import type { AgentSpec } from '../domain/agent-version.ts';
import { AppError } from '../domain/errors.ts';

/** The host variables that the spec was granted, and their values as secrets. Nothing else of the host's environment is read. */
export function grantedEnvironment(spec: AgentSpec, context: Pick<MakeContext, 'hostEnvironment'>): GrantedEnvironment {
  const environment: Record<string, string> = {};
  for (const name of spec.environment_names) {
    const value = context.hostEnvironment[name];
    if (value === undefined) {
      throw new AppError(
        'invalid_configuration',
        `the agent is granted the host variable ${name}, and it is not set: export ${name}, or leave it out`,
      );
    }
    environment[name] = value;
  }
  return { environment, redact: Object.values(environment).filter((value) => value !== '') };
}

export type GrantedEnvironment = { environment: Record<string, string>; redact: string[] };

/** Sorted, without repeats. Names that the engine sets itself cannot be granted. */
export function checkedEnvironmentNames(names: readonly string[], where: string): string[] {
  for (const name of names) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new AppError(
        'invalid_configuration',
        `${where}: expected the name of a host variable, found ${JSON.stringify(name)}: write the name alone, its value is read from the host`,
      );
    }
    if (name.startsWith('PROCTOR_')) {
      throw new AppError(
        'invalid_configuration',
        `${where}: ${name} is set by proctor itself and cannot be passed in: choose another name`,
      );
    }
  }
  return [...new Set(names)].sort();
}
