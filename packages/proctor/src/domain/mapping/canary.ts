/**
 * Harbor's canary rule: the first lines, as long as each is a `#` line or a one-line HTML comment that says "canary" in any case, go, and then the
 * blank lines that lead the rest, as they do in a file without one.
 */
export function stripCanary(instruction: string): string {
  let start = 0;
  for (let canaries = true; start < instruction.length; ) {
    const end = instruction.indexOf('\n', start);
    const line = instruction.slice(start, end === -1 ? instruction.length : end);
    canaries &&= isCanary(line);
    if (!canaries && line.trim() !== '') break;
    start = end === -1 ? instruction.length : end + 1;
  }
  return instruction.slice(start);
}

function isCanary(line: string): boolean {
  const trimmed = line.trim();
  const isComment = trimmed.startsWith('#') || (trimmed.startsWith('<!--') && trimmed.endsWith('-->'));
  return isComment && trimmed.toLowerCase().includes('canary');
}
