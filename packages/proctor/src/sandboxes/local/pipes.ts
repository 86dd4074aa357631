import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Our end as a stream, the program's end as a descriptor to hand to `spawn` and then close. */
export type ProgramPipe = { ours: Socket; theirs: number };

/**
 * Real pipes for programs' stdin, stdout and stderr. Node gives a child sockets, and no program can open those again by name: with them
 * `echo > /dev/stderr` and `cat /dev/stdin` fail. Named pipes are made some at a time and lose their name when they are taken.
 */
export class PipeStock {
  readonly #directory: string;
  #names: string[] = [];
  #filling: Promise<void> | null = null;
  #made = 0;

  /** `directory` exists, and is nobody else's. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  async take(direction: 'read' | 'write'): Promise<ProgramPipe> {
    while (this.#names.length === 0) await this.#fill();
    const name = this.#names.pop() ?? '';
    // In this order neither open waits for the other end.
    const reading = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
    const writing = openSync(name, constants.O_WRONLY);
    if (direction === 'read') {
      unlinkSync(name);
      return { ours: new Socket({ fd: reading, readable: true, writable: false }), theirs: writing };
    }
    // Opened again, so that the program's stdin waits for input, which the first one does not.
    const waiting = openSync(name, constants.O_RDONLY);
    closeSync(reading);
    unlinkSync(name);
    return { ours: new Socket({ fd: writing, readable: false, writable: true }), theirs: waiting };
  }

  /** Bytes at hand, as a descriptor that reads them. A named pipe whose writer is gone would make a program wait that opens /dev/stdin. */
  async holding(bytes: Uint8Array): Promise<number> {
    const name = join(this.#directory, `f${process.pid}-${this.#made++}`);
    await writeFile(name, bytes, { mode: 0o600, flag: 'wx' });
    const descriptor = openSync(name, constants.O_RDONLY);
    unlinkSync(name);
    return descriptor;
  }

  #fill(): Promise<void> {
    this.#filling ??= (async () => {
      const names = Array.from({ length: 24 }, () => join(this.#directory, `p${process.pid}-${this.#made++}`));
      await promisify(execFile)('mkfifo', ['-m', '600', ...names]);
      this.#names.push(...names);
    })().finally(() => {
      this.#filling = null;
    });
    return this.#filling;
  }
}
