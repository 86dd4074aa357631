/** `*` any run of characters, `?` one character; everything else is itself. Matches the whole name, or its part after the last slash. */
export function matchesGlob(name: string, glob: string): boolean {
  const pattern = new RegExp(
    `^${glob
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replace(/\*/g, '.*')
      .replace(/\?/g, '.')}$`,
    's',
  );
  return pattern.test(name) || pattern.test(name.split('/').at(-1) ?? name);
}
