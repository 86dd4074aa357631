import type { ProviderOptions, SandboxProvider } from '../sandbox.ts';
import { dockerSandboxes } from './docker/docker.ts';
import { localSandboxes } from './local/local.ts';
import { plainSandboxes } from './local/plain.ts';

/** Making a provider looks at nothing: `unusable()` is the first that does. */
export const SANDBOXES = {
  docker: dockerSandboxes,
  local: localSandboxes,
  none: plainSandboxes,
} satisfies Record<string, (options: ProviderOptions) => SandboxProvider>;
