import type { ProviderOptions, SandboxProvider } from '../sandbox.ts';
import { dockerSandboxes } from './docker/docker.ts';
import { localSandboxes } from './local/local.ts';

/** Making a provider looks at nothing: `unusable()` is the first that does. */
export const SANDBOXES = {
  docker: dockerSandboxes,
  local: localSandboxes,
} satisfies Record<string, (options: ProviderOptions) => SandboxProvider>;
