import type { z } from 'zod';
import { parseReply } from './engine.ts';

/** What the engine tells of pulls and builds: one JSON value after another, each on a line of its own. */
export async function* parseJsonLines<T>(body: AsyncIterable<Buffer>, schema: z.ZodType<T>): AsyncGenerator<T, void, undefined> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield parseReply(schema, line, 'a line of progress');
  }
  if (rest.trim() !== '') yield parseReply(schema, rest, 'a line of progress');
}
