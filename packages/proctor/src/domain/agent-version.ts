import { z } from 'zod';

/** An Agent's frozen configuration. `kind` is a key of the agents table; `settings` is that kind's own, plain JSON. */
export const AgentSpecSchema = z.strictObject({
  kind: z.string().min(1),
  settings: z.record(z.string(), z.json()),
  /** SHA-256 of every file that can change what the agent does: path → hex digest and mode. */
  files: z.array(z.strictObject({ path: z.string(), sha256: z.string(), mode: z.int(), bytes: z.int() })),
  /** Names of host variables passed in. Their values are never stored. */
  environment_names: z.array(z.string()),
});
export type AgentSpec = z.infer<typeof AgentSpecSchema>;

/** An immutable snapshot of an Agent. `digest` = SHA-256 of the canonical JSON of `spec`. */
export const AgentVersionSchema = z.strictObject({
  id: z.string().regex(/^agent_/),
  version: z.int().min(1),
  name: z.string(),
  digest: z.string(),
  spec: AgentSpecSchema,
  created_at: z.string(),
});
export type AgentVersion = z.infer<typeof AgentVersionSchema>;

/** A file of an agent as it is kept for later trials. `path` is relative and POSIX; `mode` its permission bits. */
export type KeptFile = { path: string; mode: number; content: Uint8Array };

/** `nodeModules`: an absolute directory in which imports of the kept copy are looked up too. It is no part of the digest. */
export type KeepOptions = { nodeModules?: string | null };
