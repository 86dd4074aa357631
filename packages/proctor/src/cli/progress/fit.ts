/** `text` in exactly `cells` terminal cells: cut with an ellipsis, or padded. */
export function fit(text: string, cells: number): string {
  const own = cellsOf(text);
  return own <= cells ? text + ' '.repeat(cells - own) : cut(text, cells);
}

/** At most `cells` terminal cells. */
export function cut(text: string, cells: number): string {
  if (cellsOf(text) <= cells) return text;
  if (cells <= 0) return '';
  let taken = '';
  let used = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
    const next = segmentCells(segment);
    if (used + next > cells - 1) break;
    taken += segment;
    used += next;
  }
  return `${taken}…`;
}

/** How many terminal cells plain text takes (no escapes in it). */
export function cellsOf(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let used = 0;
  for (const { segment } of SEGMENTS.segment(text)) used += segmentCells(segment);
  return used;
}

function segmentCells(segment: string): number {
  if (/^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(segment)) return 0;
  return WIDE.test(segment) ? 2 : 1;
}

const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });
const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
