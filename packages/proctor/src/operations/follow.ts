import type { EventRow } from '../domain/events.ts';
import type { OperationParts } from './parts.ts';

/** History, then live. Ends by itself when the Session is closed; throws when its log can no longer be written, since nobody would ever close it. */
export async function* followLive(
  parts: OperationParts,
  sessionId: string,
  options: { after: number; signal: AbortSignal },
): AsyncGenerator<EventRow, void, undefined> {
  const stop = new AbortController();
  const broken = parts.sessions.find(sessionId)?.logBroken;
  let cause: { error: unknown } | null = null;
  // Whoever ends the log after a failed write gets a moment to do so.
  void broken?.then((error) => {
    cause = { error };
    setTimeout(() => stop.abort(), LAST_WORDS_MS).unref();
  });
  for await (const row of parts.store.follow(sessionId, { after: options.after, signal: AbortSignal.any([options.signal, stop.signal]) })) {
    yield row;
    if (row.type === 'session.closed') return;
  }
  if (cause !== null && !options.signal.aborted) throw (cause as { error: unknown }).error;
}

const LAST_WORDS_MS = 3000;
