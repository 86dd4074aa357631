import type { AgentKind } from '../agent.ts';
import { AppError } from '../domain/errors.ts';
import { resolveHostTemplate } from '../domain/host-template.ts';
import type { Task } from '../domain/task.ts';
import { checkedEnvironmentNames, type GrantedEnvironment, grantedEnvironment } from './granted-environment.ts';

export const oracle: AgentKind = {
  summary: "runs the task's own reference solution: what a check must be satisfied by",
  async resolve(rest, context) {
    if (rest !== '')
      throw new AppError(
        'invalid_configuration',
        `the oracle agent takes nothing after its name, found ${JSON.stringify(rest)}: write oracle`,
      );
    return { kind: 'oracle', settings: {}, files: [], environment_names: checkedEnvironmentNames(context.environmentNames, '--agent-env') };
  },
  refuses: (spec, task) => {
    if (task.solution === null) return withoutSolution(task);
    for (const [key, written] of Object.entries(task.solution.env)) {
      const resolved = resolveHostTemplate(written, (name) => (spec.environment_names.includes(name) ? '' : undefined));
      if (resolved.kind === 'missing') return notGranted(task.name, key, resolved.name);
    }
    return null;
  },
  async make(spec, { task, hostEnvironment }) {
    if (task === null)
      throw new AppError(
        'invalid_configuration',
        'the oracle agent runs the solution of a task, and this Session has no task: choose another agent',
      );
    if (task.solution === null) throw new AppError('invalid_task', withoutSolution(task));
    const { argv, files, target } = task.solution;
    const granted = grantedEnvironment(spec, { hostEnvironment });
    const { environment, redact } = solutionEnvironment(task.name, task.solution.env, granted);
    return {
      files: [{ tree: files, target }],
      environment: { ...granted.environment, DEBIAN_FRONTEND: 'noninteractive', ...environment },
      redact: [...new Set([...granted.redact, ...redact])],
      timeLimitMs: null,
      speaks: { kind: 'command', argv },
    };
  },
};

function withoutSolution(task: Task): string {
  return `${task.name}: the oracle agent needs a reference solution, and this task has none: add solution/solve.sh or leave the task out`;
}

function notGranted(task: string, key: string, name: string): string {
  return `${task}: solution.env.${key} asks for the host variable ${name}, which is not granted: pass --agent-env ${name}`;
}

function solutionEnvironment(task: string, env: Readonly<Record<string, string>>, granted: GrantedEnvironment): GrantedEnvironment {
  const environment: Record<string, string> = {};
  const redact: string[] = [];
  for (const [key, written] of Object.entries(env)) {
    const resolved = resolveHostTemplate(written, (name) => granted.environment[name]);
    if (resolved.kind === 'missing') throw new AppError('invalid_configuration', notGranted(task, key, resolved.name));
    environment[key] = resolved.value;
    if (resolved.kind === 'host' && resolved.value !== '') redact.push(resolved.value);
  }
  return { environment, redact };
}
