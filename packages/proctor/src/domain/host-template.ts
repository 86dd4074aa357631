/**
 * `${NAME}` or `${NAME:-default}` as the entire value, the only host template of Harbor's env tables; anything else is literal. A variable set to
 * the empty string counts as set. `missing` names a variable that is neither set nor given a default.
 */
export function resolveHostTemplate(value: string, read: (name: string) => string | undefined): HostTemplate {
  const match = /^\$\{([^}:]+)(?::-([^}]*))?\}$/s.exec(value);
  const name = match?.[1];
  if (name === undefined) return { kind: 'literal', value };
  const found = read(name);
  if (found !== undefined) return { kind: 'host', name, value: found };
  const fallback = match?.[2];
  return fallback === undefined ? { kind: 'missing', name } : { kind: 'literal', value: fallback };
}

export type HostTemplate =
  | { kind: 'literal'; value: string }
  /** The value came from the host, and is therefore to be redacted. */
  | { kind: 'host'; name: string; value: string }
  | { kind: 'missing'; name: string };
