import type { FieldAccount, Issue, Place } from '../issue.ts';
import { isAtOrBelow } from './key-path.ts';
import { plainJson } from './plain-json.ts';

export type IssueDetail = Pick<Issue, 'expected' | 'found' | 'hint' | 'place'>;

/** What one mapping has to say: complaints, the fate of every key, and the keys that have no place in a Task. */
export class MappingLog {
  readonly issues: Issue[] = [];
  /** Keys that are often written under the wrong table → where they belong. */
  readonly elsewhere: ReadonlyMap<string, string>;
  /** One entry a path, in the order in which the keys were read. */
  readonly account: FieldAccount[] = [];
  readonly #carried: [string, unknown][] = [];

  constructor(elsewhere: ReadonlyMap<string, string> = new Map()) {
    this.elsewhere = elsewhere;
  }

  /** Path → value of keys that have no place in a Task, unchanged. */
  get carried(): Record<string, unknown> {
    return Object.fromEntries(this.#carried);
  }

  get hasErrors(): boolean {
    return this.issues.some((issue) => issue.severity === 'error');
  }

  error(path: string, message: string, detail: IssueDetail = {}): void {
    this.issues.push({ severity: 'error', path, message, ...detail });
  }

  /**
   * Says that something is not there, unless an error has told already why it could not be used: a wrong kind of file at `place` or above it, a wrong
   * value of one of the keys that could stand in for it.
   */
  missing(message: string, detail: IssueDetail & { place: Place }, keys: readonly string[] = []): void {
    const { file } = detail.place;
    const isTold = this.issues.some(({ severity, path, place }) => {
      if (severity !== 'error') return false;
      return path === '' ? place !== undefined && (place.file === file || file.startsWith(`${place.file}/`)) : keys.includes(path);
    });
    if (!isTold) this.error('', message, detail);
  }

  warn(path: string, message: string, detail: IssueDetail = {}): void {
    this.issues.push({ severity: 'warning', path, message, ...detail });
  }

  /** `value` is JSON already. */
  take(path: string, value: unknown, reason?: string): void {
    this.account.push(reason === undefined ? { path, fate: 'taken', value } : { path, fate: 'taken', value, reason });
  }

  defaulted(path: string, value: unknown, reason: string): void {
    this.account.push({ path, fate: 'defaulted', value, reason });
  }

  /** Says better what became of a key than the reading of its table could. */
  redefault(path: string, value: unknown, reason: string): void {
    const index = this.account.findIndex((entry) => entry.path === path);
    if (index === -1) this.defaulted(path, value, reason);
    else this.account[index] = { path, fate: 'defaulted', value, reason };
  }

  ignore(path: string, reason: string): void {
    this.account.push({ path, fate: 'ignored', reason });
  }

  /** Keeps a key that has no place in a Task. */
  carry(path: string, value: unknown): void {
    this.#carried.push([path, plainJson(value)]);
  }

  /** A part of the format that this build cannot honour: refused by name, never dropped. */
  refuse(path: string, message: string, capability: string, detail: Pick<Issue, 'place'> = {}): void {
    this.error(path, message, { hint: `Capability ${capability} is not on in this build`, ...detail });
    if (path !== '') this.#change(path, 'refused', `capability ${capability} is not on in this build`);
  }

  /** A value that could not be used: one wrong part refuses the whole, with the parts beside it. */
  wrong(path: string): void {
    if (!this.account.some((entry) => isAtOrBelow(entry.path, path)))
      this.account.push({ path, fate: 'refused', reason: 'a wrong value, see the errors' });
  }

  /** What was taken at or below a path has no effect after all. */
  setAside(path: string, reason: string): void {
    this.#change(path, 'ignored', reason);
  }

  #change(path: string, fate: 'refused' | 'ignored', reason: string): void {
    for (const [index, entry] of this.account.entries()) {
      if (entry.fate === 'taken' && isAtOrBelow(entry.path, path)) this.account[index] = { path: entry.path, fate, reason };
    }
  }
}
