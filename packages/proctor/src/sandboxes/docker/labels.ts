import type { SandboxLabels } from '../../sandbox.ts';

export const STORE_LABEL = 'proctor.store';
export const OWNER_LABEL = 'proctor.owner';
const SESSION_LABEL = 'proctor.session';
const EXPIRES_LABEL = 'proctor.expires';

export function toEngineLabels(labels: SandboxLabels): Record<string, string> {
  return { [STORE_LABEL]: labels.store, [OWNER_LABEL]: labels.owner, [SESSION_LABEL]: labels.session, [EXPIRES_LABEL]: labels.expiresAt };
}

/** Null for a thing that is not ours, or was made by a version that labelled it otherwise: nobody may decide its end. */
export function fromEngineLabels(labels: Readonly<Record<string, string>> | null | undefined): SandboxLabels | null {
  const store = labels?.[STORE_LABEL];
  const owner = labels?.[OWNER_LABEL];
  const session = labels?.[SESSION_LABEL];
  const expiresAt = labels?.[EXPIRES_LABEL];
  if (store === undefined || owner === undefined || session === undefined || expiresAt === undefined) return null;
  return { store, owner, session, expiresAt };
}
