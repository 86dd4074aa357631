import type { EventData } from '../domain/events.ts';
import type { VerifierContract } from '../domain/task.ts';
import type { TreeContent } from '../system/tree-content.ts';
import type { Frozen } from './frozen.ts';
import type { HostRoom } from './host-room.ts';
import type { EngineParts } from './parts.ts';
import type { SessionLog } from './session-log.ts';

/** What a live Session is made of; none of it changes while it lives. */
export type SessionSettings = {
  parts: EngineParts;
  id: string;
  log: SessionLog;
  frozen: Frozen;
  content: TreeContent;
  room: HostRoom;
  keepState: boolean;
  /** Hints for people who watch. */
  onPhase(phase: SessionPhase): void;
};

export type SessionPhase = 'admission' | 'image' | 'provision' | 'agent_setup';

export type Definition = EventData<'outcome.defined'>['definition'];

/** The Outcome that is not settled yet. */
export type OpenOutcome = { id: string; definition: Definition; contract: VerifierContract; iteration: number; evaluations: number };

export const ENGINE = { author: 'engine' };
