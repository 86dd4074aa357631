import { posix } from 'node:path';
import type { Redaction } from '../domain/redaction.ts';
import { openOutcome } from '../domain/session.ts';
import type { FileTree } from '../domain/task.ts';
import type { Attribution, OutcomeResult } from '../domain/verdict.ts';
import type { TreeContent } from '../system/tree-content.ts';
import { keepEvidence, keepState, stateKey } from './evidence.ts';
import type { EnvironmentFailure } from './frozen.ts';
import { keepText } from './kept-output.ts';
import type { Provisioned } from './provision.ts';
import type { SessionLog } from './session-log.ts';
import { ENGINE, type OpenOutcome, type SessionSettings } from './session-settings.ts';
import type { GivenFile } from './workdir-diff.ts';

export type Settlement = { result: OutcomeResult; reason: string | null; attribution: Attribution | null; reward: number | null };

export type SettleOptions = SessionSettings & {
  provisioned: Provisioned | null;
  outcome: OpenOutcome | null;
  redaction: Redaction;
  /** Null: a Run without an Outcome has ended. */
  settlement: Settlement | null;
};

/** Keeps the evidence, ends the Outcome, renders what was asked for and leaves the Session idle. */
export async function settle(options: SettleOptions): Promise<void> {
  const { log, outcome, settlement } = options;
  if (outcome !== null && settlement !== null) {
    await keepWhatIsThere(options, outcome, settlement);
    await log.append([log.draft('outcome.settled', { outcome_id: outcome.id, iterations: outcome.evaluations, ...settlement }, ENGINE)]);
    await renderReports(options, outcome);
  }
  const broken = settlement?.result === 'failed';
  await log.append([log.draft('session.status', { status: 'idle', stop_reason: broken ? 'error' : 'end_turn' }, ENGINE)]);
}

export async function recordEnvironmentFailure(
  { parts, log }: SessionSettings,
  failure: EnvironmentFailure,
  redaction: Redaction,
): Promise<void> {
  const kept = failure.log === null ? null : await keepText(parts.store, failure.log, redaction);
  const { phase, attribution, code } = failure;
  log.write([log.draft('environment.failed', { phase, attribution, code, message: redaction.text(failure.message), log: kept }, ENGINE)]);
}

/** When even the failure could not be recorded as usual: one more try for the events that end the log. */
export async function recordLastWords(log: SessionLog, failure: EnvironmentFailure, redaction: Redaction): Promise<void> {
  const outcome = openOutcome(log.projection);
  const message = redaction.text(failure.message);
  const { phase, code } = failure;
  const drafts = [log.draft('environment.failed', { phase, attribution: 'infrastructure', code, message, log: null }, ENGINE)];
  if (outcome !== null) {
    const settled = {
      outcome_id: outcome.id,
      result: 'failed' as const,
      reason: `environment_${phase}`,
      iterations: outcome.iteration,
      reward: null,
    };
    drafts.push(log.draft('outcome.settled', { ...settled, attribution: 'infrastructure' }, ENGINE));
  }
  drafts.push(log.draft('session.closed', { reason: 'error', detail: message }, ENGINE));
  await log.lastWords(drafts).catch(() => {});
}

async function keepWhatIsThere(options: SettleOptions, outcome: OpenOutcome, settlement: Settlement): Promise<void> {
  const { parts, id, log, frozen, content, provisioned } = options;
  if (provisioned === null || settlement.reason === 'sandbox_lost') return;
  const { lease, workdir } = provisioned;
  await keepEvidence({
    parts,
    log,
    lease,
    outcomeId: outcome.id,
    deliverables: outcome.definition.deliverables,
    roots: frozen.captureRoots,
    workdir,
    given: givenFiles(frozen.task?.environment.upload ?? null, workdir, content),
    satisfied: settlement.result === 'satisfied',
    agentKind: frozen.agent.spec.kind,
    redaction: options.redaction,
  });
  if (options.keepState) await keepState({ log, lease, outcomeId: outcome.id, contract: outcome.contract, key: stateKey(id) });
}

/** What `provision` put into the working directory. */
function givenFiles(upload: FileTree | null, workdir: string, content: TreeContent): GivenFile[] {
  if (upload === null) return [];
  return upload.files.map((file) => ({
    path: posix.join(workdir, file.path),
    bytes: file.bytes,
    sha256: file.sha256,
    content: () => content.of(upload)(file.path),
  }));
}

/** What the definition asked to be rendered; it never touches the verdict. */
async function renderReports({ parts, id, log }: SettleOptions, outcome: OpenOutcome): Promise<void> {
  const wanted = outcome.definition.report;
  if (wanted === undefined) return;
  for await (const [summary] of parts.store.summaries({ ids: [id] })) {
    if (summary === undefined) continue;
    for (const format of wanted.formats) {
      const { bytes, sha256 } = await parts.store.putBlob(Buffer.from(parts.renderReport(format, wanted.title ?? id, summary)));
      const data = {
        outcome_id: outcome.id,
        path: `report.${format}`,
        state: 'kept' as const,
        kind: 'report' as const,
        bytes,
        sha256,
        mode: null,
      };
      log.write([log.draft('deliverable.captured', data, ENGINE)]);
    }
  }
}
