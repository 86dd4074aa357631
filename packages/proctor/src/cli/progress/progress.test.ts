import { expect, test } from 'vitest';
import type { Progress, TrialLabel } from '../../compositions/progress.ts';
import type { SessionSummary } from '../../domain/summary.ts';
import { cellWidth } from '../../domain/terminal-text.ts';
import { openTerminal } from '../terminal.ts';
import { liveLines } from './live-lines.ts';
import { LiveRegion } from './live-region.ts';
import { Tally } from './tally.ts';

const paint = openTerminal({}, true).paint;
const trial = (task: string, lane = 'oracle', attempt = 1): TrialLabel => ({ task, lane, repetition: 1, attempt });
const ended = (label: TrialLabel, result: SessionSummary['trial_result'], willRetry = false): Progress => ({
  kind: 'trial_ended',
  trial: label,
  summary: { trial_result: result } as SessionSummary,
  willRetry,
});
const planned: Progress = {
  kind: 'planned',
  trials: 4,
  reused: 1,
  reusedFrom: null,
  concurrency: 2,
  experiment: 'e',
  lanes: ['oracle'],
  notes: [],
};

function tallyOf(...events: [Progress, number][]): Tally {
  const tally = new Tally();
  for (const [event, at] of events) tally.take(event, at);
  return tally;
}

test('what remains is told from the trials that ended and how many run at once', () => {
  const tally = tallyOf(
    [planned, 0],
    [{ kind: 'trial_reused', trial: trial('r'), summary: { trial_result: 'passed' } as SessionSummary }, 0],
    [{ kind: 'trial_started', trial: trial('a'), session: 's' }, 0],
    [{ kind: 'trial_started', trial: trial('b'), session: 's' }, 0],
    [ended(trial('a'), 'passed'), 10_000],
    [{ kind: 'trial_started', trial: trial('c'), session: 's' }, 10_000],
  );
  // b is past the mean, c has 10 s to go, d is waiting: 20 s of work for two.
  expect(tally.remainingMs(10_000)).toBe(10_000);
  expect([tally.total, tally.ended, tally.reused, tally.results]).toEqual([5, 1, 1, { passed: 2, failed: 0, partial: 0, unscored: 0 }]);
});

test('an attempt that is tried again is not counted as ended', () => {
  const tally = tallyOf(
    [planned, 0],
    [{ kind: 'trial_started', trial: trial('a'), session: 's' }, 0],
    [ended(trial('a'), 'unscored', true), 5],
  );
  expect([tally.ended, tally.results.unscored, tally.running.size]).toEqual([0, 0, 0]);
});

test.for([20, 40, 80, 200])('no line is wider than a terminal of %i columns, whatever a task is called', (columns) => {
  const names = ['hello', 'x'.repeat(120), '日本語のタスクの名前がとても長い場合', 'evil\u001b[2J\u001b[H\nname'];
  const tally = tallyOf(
    [planned, 0],
    ...names.map((name, index): [Progress, number] => [
      { kind: 'trial_started', trial: trial(name, 'a-lane-of-mine'), session: 's' },
      index,
    ]),
  );
  for (const one of tally.running.values())
    Object.assign(one, { phase: 'image', detail: 'step 3/7 \u001b[31mRUN apt-get install -y everything'.repeat(3) });
  const lines = liveLines(tally, 100_000, { columns, rows: 24 }, paint);
  expect(lines).toHaveLength(5);
  for (const line of lines) {
    expect(cellWidth(line)).toBeLessThan(columns);
    expect(line).not.toContain('\u001b');
  }
});

test('trials that do not fit the height are counted', () => {
  const many = Array.from({ length: 40 }, (_, index): [Progress, number] => [
    { kind: 'trial_started', trial: trial(`t${index}`), session: 's' },
    0,
  ]);
  const lines = liveLines(tallyOf([planned, 0], ...many), 1000, { columns: 80, rows: 10 }, paint);
  expect(lines).toHaveLength(7);
  expect(lines[5]).toContain('… and 35 more');
});

test('the region is drawn over itself, lasting lines stay above it, and nothing of it is left', () => {
  const screen = new Screen(40, 12);
  const region = new LiveRegion(screen);
  region.draw(['one', 'two', 'three']);
  region.draw(['two', 'three'], ['one has ended']);
  region.draw(['three'], ['two has ended']);
  expect(screen.text()).toEqual(['one has ended', 'two has ended', 'three']);
  region.close();
  expect(screen.text()).toEqual(['one has ended', 'two has ended']);
  expect(screen.isCursorHidden).toBe(false);
});

test('a terminal that got narrower and wrapped the lines is cleaned as well', () => {
  const screen = new Screen(40, 20);
  const region = new LiveRegion(screen);
  region.draw(['x'.repeat(39), 'y'.repeat(30), 'z'], ['stays']);
  screen.narrowTo(20);
  region.draw(['a', 'b', 'c']);
  expect(screen.text()).toEqual(['stays', 'a', 'b', 'c']);
});

/** As much of a terminal as the region uses: text with wrapping, CR, LF, cursor up, erase to the end of line and of screen. */
class Screen {
  columns: number;
  rows: number;
  isCursorHidden = false;
  #lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): void {
    for (const [token] of text.matchAll(/\u001b\[(\??\d*)([A-Za-z])|[\s\S]/g)) this.#take(token);
  }

  text(): string[] {
    return this.#lines.map((line) => line.trimEnd()).filter((line) => line !== '');
  }

  /** Long lines wrap, as terminals that reflow do. */
  narrowTo(columns: number): void {
    this.#lines = this.#lines.flatMap((line) => (line === '' ? [''] : (line.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [''])));
    this.#row = this.#lines.length - 1;
    this.columns = columns;
  }

  #take(token: string): void {
    if (token === '\r') this.#column = 0;
    else if (token === '\n') {
      this.#row += 1;
      this.#column = 0;
      this.#lines[this.#row] ??= '';
    } else if (token === '\u001b[?25l') this.isCursorHidden = true;
    else if (token === '\u001b[?25h') this.isCursorHidden = false;
    else if (token === '\u001b[K') this.#lines[this.#row] = (this.#lines[this.#row] ?? '').slice(0, this.#column);
    else if (token === '\u001b[J') {
      this.#lines[this.#row] = (this.#lines[this.#row] ?? '').slice(0, this.#column);
      this.#lines.length = this.#row + 1;
    } else if (/^\u001b\[\d+A$/.test(token)) this.#row = Math.max(0, this.#row - Number(token.slice(2, -1)));
    else if (token.length > 1) throw new Error(`the region wrote ${JSON.stringify(token)}`);
    else {
      const line = this.#lines[this.#row] ?? '';
      this.#lines[this.#row] = line.padEnd(this.#column).slice(0, this.#column) + token + line.slice(this.#column + 1);
      this.#column += 1;
    }
  }
}
