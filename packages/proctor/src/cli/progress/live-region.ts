import { cellWidth } from '../../domain/terminal-text.ts';

export type Screen = { write(text: string): unknown; columns: number; rows: number };

/** Lines at the foot of a terminal that are drawn over again, with lasting lines above them. */
export class LiveRegion {
  readonly #screen: Screen;
  /** Drawn last: after a resize a line may take more rows than it did. */
  #drawn: readonly string[] = [];
  #hidden = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** One write: lasting lines take the place of the old region, the new region follows. A line must fit the width. */
  draw(lines: readonly string[], lasting: readonly string[] = []): void {
    const hide = this.#hidden ? '' : '\u001b[?25l';
    this.#hidden = true;
    const body = [...lasting, ...lines].map((line) => `${line}\u001b[K\n`).join('');
    this.#screen.write(`${hide}${this.#toTop()}${body}\u001b[J`);
    this.#drawn = lines;
  }

  /** Takes the region away and gives the cursor back. */
  close(): void {
    if (!this.#hidden) return;
    this.#screen.write(`${this.#toTop()}\u001b[J\u001b[?25h`);
    this.#drawn = [];
    this.#hidden = false;
  }

  #toTop(): string {
    const columns = Math.max(1, this.#screen.columns);
    const rows = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(cellWidth(line) / columns)), 0);
    const up = Math.min(rows, Math.max(0, this.#screen.rows - 1));
    return up === 0 ? '\r' : `\r\u001b[${up}A`;
  }
}
