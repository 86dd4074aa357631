import type { SessionLog } from './session-log.ts';

const PIECE_CHARACTERS = 16 * 1024;
const MAX_CHARACTERS = 512 * 1024;
const FLUSH_MS = 500;

/** Turns a harness's streams into `agent.output` events: gathered into pieces, bounded in all, the cut said once. */
export class OutputEvents {
  #log: SessionLog;
  #runId: string;
  #pieces = { stdout: '', stderr: '' };
  #written = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(log: SessionLog, runId: string) {
    this.#log = log;
    this.#runId = runId;
  }

  push(stream: 'stdout' | 'stderr', text: string): void {
    if (this.#written >= MAX_CHARACTERS) return;
    this.#pieces[stream] += text;
    if (this.#pieces[stream].length >= PIECE_CHARACTERS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const by = { author: 'agent', runId: this.#runId };
    for (const stream of ['stdout', 'stderr'] as const) {
      const text = this.#pieces[stream].slice(0, Math.max(0, MAX_CHARACTERS - this.#written));
      const dropped = this.#pieces[stream].length > text.length;
      this.#pieces[stream] = '';
      this.#written += text.length;
      for (let at = 0; at < text.length; at += PIECE_CHARACTERS)
        this.#log.write([this.#log.draft('agent.output', { stream, text: text.slice(at, at + PIECE_CHARACTERS) }, by)]);
      if (dropped || this.#written >= MAX_CHARACTERS) {
        this.#written = MAX_CHARACTERS;
        this.#log.write([
          this.#log.draft(
            'warning',
            { code: 'output_cut', message: 'the rest of the output is not in the log; its head and tail are kept with the run' },
            { author: 'engine', runId: this.#runId },
          ),
        ]);
        return;
      }
    }
  }
}
