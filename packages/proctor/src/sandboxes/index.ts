import type { ProviderOptions, SandboxProvider } from '../sandbox.ts';
import { dockerSandboxes } from './docker/docker.ts';

/** Making a provider looks at nothing: `unusable()` is the first that does. */
export const SANDBOXES = {
  docker: dockerSandboxes,
} satisfies Record<string, (options: ProviderOptions) => SandboxProvider>;
