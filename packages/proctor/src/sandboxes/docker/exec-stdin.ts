import type { Duplex } from 'node:stream';
import type { ExecOptions } from '../../sandbox.ts';

export function wantsStdin(options: ExecOptions): boolean {
  return options.stdin !== undefined && options.stdin !== 'closed';
}

/** Writes what the caller gives, and the end of it, to a program's stdin. */
export function feed(socket: Duplex, stdin: ExecOptions['stdin']): { stop(): void } {
  if (stdin === undefined || stdin === 'closed') return { stop: () => undefined };
  if (stdin instanceof Uint8Array) {
    socket.end(stdin);
    return { stop: () => undefined };
  }
  const source = stdin[Symbol.asyncIterator]();
  let stopped = false;
  const pump = async (): Promise<void> => {
    for (;;) {
      const next = await source.next();
      if (stopped) return;
      if (next.done === true) break;
      if (!socket.write(next.value)) {
        await new Promise<void>((resolve) => {
          socket.once('drain', resolve);
          socket.once('close', resolve);
        });
      }
    }
    socket.end();
  };
  // A source that fails is an end of input; the program decides what that means.
  pump().catch(() => socket.end());
  return {
    stop: () => {
      stopped = true;
      source.return?.().catch(() => undefined);
    },
  };
}
