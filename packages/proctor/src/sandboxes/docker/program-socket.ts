import { type ChildProcess, spawn } from 'node:child_process';
import { Duplex } from 'node:stream';

/** A connection through a program's stdin and stdout (`ssh host docker system dial-stdio`), as far as an HTTP client needs a socket. */
export class ProgramSocket extends Duplex {
  #child: ChildProcess;
  #complaint = '';

  constructor(program: string, args: readonly string[], environment: Readonly<Record<string, string | undefined>>) {
    super({ allowHalfOpen: true });
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...environment } });
    this.#child.on('error', (error) => this.destroy(error));
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) this.#child.stdout?.pause();
    });
    this.#child.stdout?.on('end', () => this.push(null));
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString()).slice(-2000);
    });
    this.#child.stdin?.on('error', (error) => this.destroy(error));
    this.#child.on('close', (code) => {
      if (code === 0) this.destroy();
      else this.destroy(Object.assign(new Error(`${program} ended with ${code}: ${this.#complaint.trim()}`), { code: 'ECONNREFUSED' }));
    });
  }

  override _read(): void {
    this.#child.stdout?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#child.stdin === null) done(new Error('the program has no stdin'));
    else this.#child.stdin.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#child.stdin?.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#child.kill('SIGTERM');
    done(error);
  }

  ref(): this {
    this.#child.ref();
    return this;
  }

  unref(): this {
    this.#child.unref();
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }
}
