/**
 * Any text as one line that is safe to show: nothing in it moves a cursor, changes colours, reorders or hides other text. What would is written
 * out (`\x1b`, `\u202e`), so that it can be seen and is never mistaken for the program's own words.
 */
export function terminalLine(text: string): string {
  return quoteUnsafe(text.replace(/\r\n|[\n\r\u2028\u2029]/g, ' ⏎ ').replaceAll('\t', '  '));
}

/** The same for text of several lines: line ends are kept, tabs become spaces. */
export function terminalLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(terminalLine)
    .join('\n');
}

/** Cells that a terminal gives to text that is already safe: 2 for East Asian wide and emoji, 0 for combining marks. Our colours count 0. */
export function cellWidth(text: string): number {
  let width = 0;
  for (const character of text.replace(COLORS, '')) width += widthOf(character);
  return width;
}

/** At most `columns` cells, `…` where something was cut. Never cuts a wide character in half. The text holds no colours. */
export function truncate(text: string, columns: number): string {
  if (cellWidth(text) <= columns) return text;
  if (columns < 1) return '';
  let kept = '';
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Filled with spaces to `columns` cells. */
export function pad(text: string, columns: number, side: 'left' | 'right' = 'right'): string {
  const space = ' '.repeat(Math.max(0, columns - cellWidth(text)));
  return side === 'left' ? space + text : text + space;
}

/** JSON text in which no character acts on a terminal. It parses to the same value. */
export function terminalJson(json: string): string {
  return replaceActing(json, (found) => (found === '\n' ? found : jsonEscape(found)));
}

/** The text with every character that acts on a terminal replaced: for formats that have an escape of their own. */
export function replaceActing(text: string, replace: (character: string) => string): string {
  return text.replace(UNSAFE, (found) => [...found].map(replace).join(''));
}

function quoteUnsafe(text: string): string {
  return replaceActing(text.toWellFormed(), quote).replace(STACKED_MARKS, (found) => [...found].slice(0, MOST_MARKS).join(''));
}

function quote(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

function jsonEscape(character: string): string {
  return Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');
}

/**
 * Control characters (C0, DEL, C1), format characters (bidi marks, embeddings, overrides and isolates, zero-width spaces and joiners, byte order
 * mark, tags), separators, private use, and everything else that Unicode calls ignorable. Joiners and variation selectors are quoted too: an
 * emoji that falls apart is readable, a name that looks like another one is not.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{DI}]/gu;

/** Marks beyond these climb over the lines above and below. */
const MOST_MARKS = 3;
const STACKED_MARKS = /\p{Mn}{4,}|\p{Me}{4,}/gu;
const COLORS = /\u001b\[[0-9;]*m/g;

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (MARK.test(character)) return 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

const MARK = /^[\p{Mn}\p{Me}]$/u;

/** East Asian Wide and Fullwidth, and the blocks whose characters show as emoji. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2329, 0x232a],
  [0x23e9, 0x23ec],
  [0x23f0, 0x23f0],
  [0x23f3, 0x23f3],
  [0x25fd, 0x25fe],
  [0x2614, 0x2615],
  [0x2648, 0x2653],
  [0x267f, 0x267f],
  [0x2693, 0x2693],
  [0x26a1, 0x26a1],
  [0x26aa, 0x26ab],
  [0x26bd, 0x26be],
  [0x26c4, 0x26c5],
  [0x26ce, 0x26ce],
  [0x26d4, 0x26d4],
  [0x26ea, 0x26ea],
  [0x26f2, 0x26f5],
  [0x26fa, 0x26fd],
  [0x2705, 0x2705],
  [0x270a, 0x270b],
  [0x2728, 0x2728],
  [0x274c, 0x274e],
  [0x2753, 0x2757],
  [0x2795, 0x2797],
  [0x27b0, 0x27bf],
  [0x2b1b, 0x2b1c],
  [0x2b50, 0x2b55],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f004, 0x1f004],
  [0x1f0cf, 0x1f0cf],
  [0x1f18e, 0x1f19a],
  [0x1f1e6, 0x1f320],
  [0x1f32d, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f7e0, 0x1f7eb],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
];
