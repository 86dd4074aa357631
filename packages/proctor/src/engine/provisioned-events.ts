import type { EventDraft } from '../domain/events.ts';
import type { Redaction } from '../domain/redaction.ts';
import type { SandboxAsk } from './admission.ts';
import { keepText } from './kept-output.ts';
import type { EngineParts } from './parts.ts';
import type { Provisioned } from './provision.ts';
import type { SessionLog } from './session-log.ts';
import { ENGINE } from './session-settings.ts';

/** What was really made, and what was asked for and is not so. */
export async function provisionedEvents(
  parts: EngineParts,
  log: SessionLog,
  made: Provisioned,
  ask: SandboxAsk,
  redaction: Redaction,
): Promise<EventDraft[]> {
  const { facts } = made.lease;
  const data = {
    provider: facts.provider,
    isolation: facts.isolation,
    image_id: facts.imageId,
    image_digest: facts.imageDigest,
    image_built: made.imageBuilt,
    platform: facts.platform,
    workdir: made.workdir,
    network: facts.network,
    not_enforced: [...new Set([...ask.notEnforced, ...facts.notEnforced])],
    engine: facts.engine,
    build_ms: wholeMs(made.buildMs),
    provision_ms: Math.round(made.provisionMs),
    agent_setup_ms: wholeMs(made.agentSetupMs),
    build_log: made.buildLog === null ? null : await keepText(parts.store, made.buildLog, redaction),
  };
  const notes = ask.notes.map((message) => {
    const code = message.startsWith('network') ? ('network_closed' as const) : ('isolation_weaker' as const);
    return log.draft('warning', { code, message }, ENGINE);
  });
  const left = made.notes.map((message) => log.draft('warning', { code: 'variable_left_out', message: redaction.text(message) }, ENGINE));
  return [log.draft('environment.provisioned', data, ENGINE), ...notes, ...left];
}

function wholeMs(time: number | null): number | null {
  return time === null ? null : Math.round(time);
}
