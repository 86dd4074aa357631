/** Where in a source file something is said. Lines and columns count from 1; null = the file as a whole. */
export type Place = { file: string; line: number | null; column: number | null };

/** One complaint about a source. `path` is the key's path in the value (`environment.cpus`, `steps[0].name`), '' for the whole file. */
export type Issue = {
  severity: 'error' | 'warning';
  path: string;
  message: string;
  expected?: string;
  found?: string;
  hint?: string;
  place?: Place;
};

/** What became of one key of the source. Every key of a source appears exactly once. */
export type FieldAccount = {
  path: string;
  fate: 'taken' | 'defaulted' | 'ignored' | 'refused';
  /** The value in force, as JSON; absent for `ignored` and `refused`. */
  value?: unknown;
  /** Why it was ignored, refused or which default applied. Required for every fate but `taken`. */
  reason?: string;
};

/** `task.toml:3:8: environment.cpus: expected a number, found a string "two". Write cpus = 2` */
export function formatIssue(issue: Issue): string {
  const place = issue.place;
  const where =
    place === undefined
      ? ''
      : `${place.file}${place.line === null ? '' : `:${place.line}${place.column === null ? '' : `:${place.column}`}`}: `;
  const path = issue.path === '' ? '' : `${issue.path}: `;
  const detail =
    issue.expected === undefined ? '' : ` (expected ${issue.expected}${issue.found === undefined ? '' : `, found ${issue.found}`})`;
  const hint = issue.hint === undefined ? '' : `. ${issue.hint}`;
  return `${where}${path}${issue.message}${detail}${hint}`;
}
