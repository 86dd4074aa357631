/** The known word that a person most likely meant, or null. */
export function didYouMean(word: string, known: readonly string[]): string | null {
  const wanted = normalize(word);
  let best: { word: string; distance: number } | null = null;
  for (const candidate of known) {
    const other = normalize(candidate);
    const limit = Math.max(1, Math.floor(Math.max(wanted.length, other.length) / 4));
    const distance = isShortening(wanted, other) ? 1 : editDistance(wanted, other);
    if (distance <= limit && (best === null || distance < best.distance)) best = { word: candidate, distance };
  }
  return best?.word ?? null;
}

function normalize(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** `timeout` for `timeout_sec`, `cpu` for `cpus`. */
function isShortening(word: string, other: string): boolean {
  return word.length >= 3 && (other.startsWith(word) || word.startsWith(other)) && Math.abs(word.length - other.length) <= 4;
}

function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 3 || left.length > 40) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution));
    }
    previous = current;
  }
  return previous[right.length] ?? Number.POSITIVE_INFINITY;
}
