import type { WriteStream } from 'node:tty';
import picocolors from 'picocolors';

export type Colors = ReturnType<typeof picocolors.createColors>;

/** The two streams of this process: results on stdout, everything else on stderr. */
export interface Terminal {
  out(text: string): void;
  outBytes(chunk: Uint8Array): void;
  err(text: string): void;
  /** Of stdout, and of stderr. */
  readonly paint: Colors;
  readonly paintErr: Colors;
  readonly outIsTty: boolean;
  readonly errIsTty: boolean;
  /** Of stdout; 100 where it is no terminal. */
  readonly columns: number;
  readonly rawErr: WriteStream;
}

export function openTerminal(environment: NodeJS.ProcessEnv, noColor: boolean): Terminal {
  const { stdout, stderr } = process;
  const closed = { out: false, err: false };
  stdout.on(
    'error',
    quietAtBrokenPipe(() => (closed.out = true)),
  );
  stderr.on(
    'error',
    quietAtBrokenPipe(() => (closed.err = true)),
  );
  return {
    out: (text) => void (closed.out || stdout.write(text)),
    outBytes: (chunk) => void (closed.out || stdout.write(chunk)),
    err: (text) => void (closed.err || stderr.write(text)),
    paint: picocolors.createColors(wantsColor(environment, noColor, stdout.isTTY === true)),
    paintErr: picocolors.createColors(wantsColor(environment, noColor, stderr.isTTY === true)),
    outIsTty: stdout.isTTY === true,
    errIsTty: stderr.isTTY === true,
    get columns() {
      return stdout.isTTY === true ? Math.max(20, stdout.columns) : 100;
    },
    rawErr: stderr,
  };
}

/** The flag first, then NO_COLOR, then FORCE_COLOR, then whether a person is looking. */
export function wantsColor(environment: NodeJS.ProcessEnv, noColor: boolean, isTty: boolean): boolean {
  if (noColor || (environment.NO_COLOR ?? '') !== '') return false;
  const forced = environment.FORCE_COLOR;
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTty && environment.TERM !== 'dumb';
}

/** A reader that stops reading (`| head`) is no failure of ours. */
function quietAtBrokenPipe(close: () => void): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    close();
    if (error.code !== 'EPIPE') throw error;
  };
}
