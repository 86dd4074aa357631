import { AppError, messageOf } from '../domain/errors.ts';
import type { Redaction } from '../domain/redaction.ts';
import type { VerifierContract } from '../domain/task.ts';
import type { Change, SandboxLease } from '../sandbox.ts';
import { readEntries } from '../system/tar.ts';
import { changedTools } from './changed-tools.ts';
import { captureDeliverables } from './deliverables.ts';
import type { EngineParts } from './parts.ts';
import { ARTIFACTS_DIRECTORY } from './places.ts';
import type { SessionLog } from './session-log.ts';
import { removeVerifierFiles } from './verify.ts';
import { type GivenFile, workdirDiff } from './workdir-diff.ts';

export type EvidenceOptions = {
  parts: EngineParts;
  log: SessionLog;
  lease: SandboxLease;
  outcomeId: string;
  deliverables: readonly string[];
  roots: readonly string[];
  workdir: string;
  given: readonly GivenFile[];
  satisfied: boolean;
  agentKind: string;
  redaction: Redaction;
};

/** What is kept at settlement: deliverables, the working directory's diff, and which tools the agent changed. A failure here is said and changes no verdict. */
export async function keepEvidence(options: EvidenceOptions): Promise<void> {
  const { parts, log, lease, outcomeId } = options;
  const by = { author: 'engine' };
  try {
    const from = { store: parts.store, lease, roots: options.roots, redaction: options.redaction };
    const [captured, { changes, diff }] = await Promise.all([
      withArtifacts(lease, options.deliverables).then((paths) => captureDeliverables(from, paths)),
      changesAndDiff(options),
    ]);
    if (diff !== null) {
      const blob = await parts.store.putBlob(Buffer.from(options.redaction.text(diff)));
      captured.push({ path: options.workdir, state: 'kept', kind: 'diff', bytes: blob.bytes, sha256: blob.sha256, mode: null });
    }
    for (const one of captured) log.write([log.draft('deliverable.captured', { outcome_id: outcomeId, ...one }, by)]);
    // The reference solution and doing nothing are trusted; what they install is no sign of cheating.
    const tools = options.satisfied && options.agentKind !== 'oracle' && options.agentKind !== 'nop' ? changedTools(changes) : [];
    if (tools.length > 0)
      log.write([
        log.draft(
          'warning',
          {
            code: 'tools_changed',
            message: `${tools.length} tools of the image are not as they were`,
            paths: tools.slice(0, 100),
            outcome_id: outcomeId,
          },
          by,
        ),
      ]);
  } catch (error) {
    log.write([
      log.draft(
        'warning',
        { code: 'evidence_incomplete', message: `evidence could not be kept whole: ${messageOf(error)}`, outcome_id: outcomeId },
        by,
      ),
    ]);
  }
}

async function changesAndDiff({ lease, workdir, given }: EvidenceOptions): Promise<{ changes: Change[] | null; diff: string | null }> {
  const changes = (await lease.changes?.()) ?? null;
  return { changes, diff: await workdirDiff(lease, { changes, workdir, given }) };
}

/** What lies in the directory for artifacts is kept without being asked for; an empty one is no deliverable. */
async function withArtifacts(lease: SandboxLease, asked: readonly string[]): Promise<readonly string[]> {
  if (asked.includes(ARTIFACTS_DIRECTORY)) return asked;
  const tar = await lease.sandbox.download(ARTIFACTS_DIRECTORY);
  if (tar === null) return asked;
  const entries = await readEntries(tar, { maxFileBytes: 0, maxFiles: 2 });
  return entries.length > 1 ? [ARTIFACTS_DIRECTORY, ...asked] : asked;
}

/** The key under which a Session's last filesystem is kept. */
export function stateKey(sessionId: string): string {
  return `state ${sessionId}`;
}

/** The filesystem as the agent left it, without the verifier's files. */
export async function keepState(
  options: Pick<EvidenceOptions, 'log' | 'lease' | 'outcomeId'> & { contract: VerifierContract; key: string },
): Promise<void> {
  const { log, lease, outcomeId } = options;
  try {
    if (lease.keepAs === undefined) throw new AppError('capability_not_enabled', 'this sandbox keeps no states');
    await removeVerifierFiles(lease, options.contract);
    await lease.keepAs(options.key);
  } catch (error) {
    log.write([
      log.draft(
        'warning',
        { code: 'evidence_incomplete', message: `the state could not be kept: ${messageOf(error)}`, outcome_id: outcomeId },
        { author: 'engine' },
      ),
    ]);
  }
}
