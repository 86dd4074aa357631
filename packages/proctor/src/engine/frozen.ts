import type { AgentVersion } from '../domain/agent-version.ts';
import type { EnvironmentVersion } from '../domain/environment.ts';
import type { Task } from '../domain/task.ts';
import type { SandboxAsk } from './admission.ts';
import type { ChosenProvider } from './parts.ts';

/** What a Session froze at admission. */
export type Frozen = {
  agent: AgentVersion;
  environment: EnvironmentVersion;
  task: Task | null;
  chosen: ChosenProvider;
  ask: SandboxAsk;
  captureRoots: string[];
  mounts: { path: string; sha256: string }[];
};

/** A failure of the world around a Session, told by a fact: never a score. */
export class EnvironmentFailure extends Error {
  readonly phase: 'build' | 'pull' | 'provision' | 'healthcheck' | 'upload' | 'agent_setup' | 'verification';
  readonly attribution: 'task' | 'infrastructure' | 'agent' | 'cancelled';
  readonly code: string;
  readonly log: string | null;

  constructor(
    phase: EnvironmentFailure['phase'],
    attribution: EnvironmentFailure['attribution'],
    code: string,
    message: string,
    options: { log?: string | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.phase = phase;
    this.attribution = attribution;
    this.code = code;
    this.log = options.log ?? null;
  }
}
