import type { EventRow } from '../domain/events.ts';
import type { OperationInput, OperationName, OperationOutput } from './operations.ts';

export type SessionPhase = 'admission' | 'image' | 'provision' | 'agent_setup';

/** The typed client that compositions and commands use: in process, or over HTTP. Errors are AppError with the operation's code. */
export interface Client {
  call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>;
  /** History from `after`, then live, until the Session is closed or `signal` fires. */
  follow(sessionId: string, options: { after: number; signal: AbortSignal }): AsyncIterable<EventRow>;
  /** What Sessions of this process are doing before their log says so: a hint for people, never evidence. Gives what ends it. */
  onPhase(listener: (sessionId: string, phase: SessionPhase) => void): () => void;
  blob(sha256: string): Promise<AsyncIterable<Uint8Array> | null>;
}
