/**
 * Decides like git which files are left out: `patterns` holds the text of each ignore file by the directory it lies in ('' = the root). Inner files
 * come after outer ones, the last pattern that matches wins, and nothing below an excluded directory comes back.
 */
export function ignoredBy(patterns: ReadonlyMap<string, string>): (path: string) => boolean {
  const rules = [...patterns]
    .sort(([left], [right]) => left.split('/').length - right.split('/').length || left.length - right.length)
    .flatMap(([directory, text]) => text.split(/\r?\n/).flatMap((line) => parseRule(line, directory) ?? []));
  return (path) => {
    const parts = path.split('/');
    return parts.some((_, index) => isExcluded(parts.slice(0, index + 1).join('/'), index < parts.length - 1, rules));
  };
}

type Rule = { directory: string; glob: Token[]; isNegated: boolean; onlyDirectories: boolean };

function isExcluded(path: string, isDirectory: boolean, rules: readonly Rule[]): boolean {
  const last = rules.findLast((rule) => {
    if (rule.onlyDirectories && !isDirectory) return false;
    if (rule.directory !== '' && !path.startsWith(`${rule.directory}/`)) return false;
    return matchesGlob(rule.glob, rule.directory === '' ? path : path.slice(rule.directory.length + 1));
  });
  return last !== undefined && !last.isNegated;
}

function parseRule(line: string, directory: string): Rule | null {
  let pattern = line.replace(/(?<!\\)((?:\\\\)*)[ \t]+$/, '$1');
  if (pattern === '' || pattern.startsWith('#')) return null;
  const isNegated = pattern.startsWith('!');
  if (isNegated) pattern = pattern.slice(1);
  const onlyDirectories = pattern.endsWith('/');
  if (onlyDirectories) pattern = pattern.slice(0, -1);
  const isAnchored = pattern.includes('/');
  if (pattern.startsWith('/')) pattern = pattern.slice(1);
  if (pattern === '') return null;
  return { directory, glob: [...(isAnchored ? [] : [DIRECTORIES]), ...parseGlob(pattern)], isNegated, onlyDirectories };
}

type Token =
  /** `accepts` one character. */
  | { kind: 'one'; accepts: (character: string) => boolean }
  /** Any number of such characters. */
  | { kind: 'many'; accepts: (character: string) => boolean }
  /** Nothing, or whole directories with their slash. */
  | { kind: 'directories' };

const DIRECTORIES: Token = { kind: 'directories' };
const notSlash = (character: string): boolean => character !== '/';
const any = (): boolean => true;

function parseGlob(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < pattern.length; ) {
    const rest = pattern.slice(index);
    const atStart = index === 0 || pattern[index - 1] === '/';
    const stars = /^\*+/.exec(rest)?.[0];
    const bracket = /^\[[!^]?\]?[^\]]*\]/.exec(rest)?.[0];
    if (atStart && rest.startsWith('**/')) {
      tokens.push(DIRECTORIES);
      index += 3;
    } else if (atStart && rest === '**') {
      tokens.push({ kind: 'one', accepts: any }, { kind: 'many', accepts: any });
      index += 2;
    } else if (stars !== undefined) {
      tokens.push({ kind: 'many', accepts: notSlash });
      index += stars.length;
    } else if (bracket !== undefined) {
      tokens.push({ kind: 'one', accepts: characterClass(bracket) });
      index += bracket.length;
    } else {
      const literal = rest[0] === '\\' && rest.length > 1 ? (rest[1] ?? '') : (rest[0] ?? '');
      tokens.push({ kind: 'one', accepts: rest[0] === '?' ? notSlash : (character) => character === literal });
      index += rest[0] === '\\' && rest.length > 1 ? 2 : 1;
    }
  }
  return tokens;
}

function characterClass(bracket: string): (character: string) => boolean {
  const isNegated = bracket[1] === '!' || bracket[1] === '^';
  const items = bracket.slice(isNegated ? 2 : 1, -1).match(/.-.|./gs) ?? [];
  const isIn = (character: string) =>
    items.some((item) => (item.length === 3 ? item.slice(0, 1) <= character && character <= item.slice(2) : item === character));
  return (character) => character !== '/' && isIn(character) !== isNegated;
}

/** All places in the glob at once, so that no pattern of a task takes longer than its length times that of the path. */
function matchesGlob(glob: readonly Token[], path: string): boolean {
  let open = reachable(glob, [0]);
  let inside = new Set<number>();
  for (const character of path) {
    const next: number[] = [];
    const nextInside = new Set<number>();
    for (const place of new Set([...open, ...inside])) {
      const token = glob[place];
      if (token === undefined) continue;
      if (token.kind === 'directories') {
        if (character === '/') next.push(place);
        else nextInside.add(place);
      } else if (open.has(place) && token.accepts(character)) next.push(token.kind === 'one' ? place + 1 : place);
    }
    open = reachable(glob, next);
    inside = nextInside;
  }
  return open.has(glob.length);
}

function reachable(glob: readonly Token[], places: readonly number[]): Set<number> {
  const found = new Set<number>();
  for (const start of places) {
    let place = start;
    found.add(place);
    for (let token = glob[place]; token !== undefined && token.kind !== 'one'; token = glob[place]) {
      place += 1;
      found.add(place);
    }
  }
  return found;
}
