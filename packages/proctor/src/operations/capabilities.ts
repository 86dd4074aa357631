import type { Capability } from '../api/operations.ts';
import { AppError } from '../domain/errors.ts';

/** Parts that this build has; `off` where configuration switched them off. The providers' own state is joined at the door. */
const BUILT: Record<string, string> = {
  lanes: 'several agents side by side in one experiment',
  repetition: 'the same trial several times',
  image_build: 'building a task image from its Dockerfile',
  verifier_grader: "the task's own hidden check decides",
  outcome_revision: 'more than one attempt in the same Session',
  session_mounts: 'read-only blobs mounted into a Session',
  deliverables: 'files kept at settlement',
  agent_modules: 'agents as modules and folders',
  reports: 'terminal, JSON, Markdown and JUnit reports',
};

const ABSENT: Record<string, string> = {
  gateway: 'metering model calls',
  budgets: 'hard caps on usage; they need the gateway',
  rubric_grader: 'a model judging against a rubric; it needs the gateway',
  tool_approvals: 'parking a Run on a person',
  allowlist: 'a network limited to named hosts',
  phase_network: 'another network policy per phase',
  host_env: 'host variables read by a task',
  multi_step: 'tasks of several steps',
  compose: 'tasks of several containers',
  separate_verifier: 'a verifier in an image of its own',
  mcp_servers: 'tool servers that a task declares',
  skills: 'skill folders that a task declares',
  tpu: 'TPUs',
  windows: 'Windows containers',
  zero_retention: 'Workspaces that keep no content',
  datasets: 'registered, versioned datasets',
  automations: 'graphs of agents',
  server: 'HTTP, SSE and MCP doors',
  regrade: 'verifying a finished Session again',
};

export type Capabilities = {
  list(providers: Capability[]): Capability[];
  /** Errors: capability_not_enabled, naming it. */
  require(name: string): void;
};

export function createCapabilities(switchedOff: readonly string[]): Capabilities {
  const off = new Set(switchedOff);
  const stateOf = (name: string): Capability => {
    if (Object.hasOwn(BUILT, name))
      return { name, state: off.has(name) ? 'off' : 'on', reason: off.has(name) ? 'switched off by configuration' : (BUILT[name] ?? null) };
    return { name, state: 'absent', reason: ABSENT[name] ?? null };
  };
  return {
    list: (providers) => [
      ...Object.keys(BUILT).map(stateOf),
      ...providers.map((one) => (off.has(one.name) ? { ...one, state: 'off' as const, reason: 'switched off by configuration' } : one)),
      ...Object.keys(ABSENT).map(stateOf),
    ],
    require: (name) => {
      const { state, reason } = stateOf(name);
      if (state !== 'on')
        throw new AppError(
          'capability_not_enabled',
          `capability ${name} is ${state}${reason === null ? '' : ` (${reason})`}: see proctor doctor`,
          { details: { capability: name, state } },
        );
    },
  };
}
