/**
 * Harbor's canary rule: the first lines, as long as each is a `#` line or a one-line HTML comment that says "canary" in any case, go, and then the
 * blank lines that lead the rest, as they do in a file without one.
 */
export function stripCanary(instruction: string): string {
  const lines = instruction.split('\n');
  let first = 0;
  while (first < lines.length && isCanary(lines[first] ?? '')) first += 1;
  while (first < lines.length && (lines[first] ?? '').trim() === '') first += 1;
  return lines.slice(first).join('\n');
}

function isCanary(line: string): boolean {
  const trimmed = line.trim();
  const isComment = trimmed.startsWith('#') || (trimmed.startsWith('<!--') && trimmed.endsWith('-->'));
  return isComment && trimmed.toLowerCase().includes('canary');
}
