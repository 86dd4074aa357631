import { z } from 'zod';

/** A named sandbox posture: what tasks may be granted. Frozen into a Session at admission. */
export const EnvironmentSpecSchema = z.strictObject({
  /** `auto` = Docker, else local. */
  sandbox: z.enum(['auto', 'docker', 'local']).default('auto'),
  /** `none` = plain processes; only by name. */
  isolation: z.enum(['default', 'none']).default('default'),
  /** `task` = the format's own default, or what the task asks. */
  network: z.enum(['task', 'none', 'public']).default('task'),
  cpus: z.number().positive().nullable().default(null),
  memory_mb: z.int().positive().nullable().default(null),
  pids: z.int().positive().nullable().default(null),
  /** The largest values that a task is granted; null = whatever it asks. */
  max_cpus: z.number().positive().nullable().default(null),
  max_memory_mb: z.int().positive().nullable().default(null),
  build: z.boolean().default(true),
  image_template: z.string().nullable().default(null),
  ignore_image: z.boolean().default(false),
  /** Absolute sandbox paths; the workdir and /logs/artifacts are always roots. */
  capture_roots: z.array(z.string().startsWith('/', 'expected an absolute path of the sandbox, such as /app/out')).default([]),
});
export type EnvironmentSpec = z.infer<typeof EnvironmentSpecSchema>;

export const EnvironmentVersionSchema = z.strictObject({
  id: z.string().regex(/^env_/),
  version: z.int().min(1),
  name: z.string(),
  digest: z.string(),
  spec: EnvironmentSpecSchema,
  created_at: z.string(),
});
export type EnvironmentVersion = z.infer<typeof EnvironmentVersionSchema>;
