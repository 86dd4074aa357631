import type { FieldAccount, Issue } from '../issue.ts';
import { isAtOrBelow } from './key-path.ts';
import { plainJson } from './plain-json.ts';

export type IssueDetail = Pick<Issue, 'expected' | 'found' | 'hint' | 'place'>;

/** What one mapping has to say: complaints, the fate of every key, and the keys that have no place in a Task. */
export class MappingLog {
  readonly issues: Issue[] = [];
  /** Path → value of keys that have no place in a Task, unchanged. */
  readonly carried: Record<string, unknown> = {};
  /** Keys that are often written under the wrong table → where they belong. */
  readonly elsewhere: ReadonlyMap<string, string>;
  readonly #account = new Map<string, FieldAccount>();

  constructor(elsewhere: ReadonlyMap<string, string> = new Map()) {
    this.elsewhere = elsewhere;
  }

  get account(): FieldAccount[] {
    return [...this.#account.values()];
  }

  get hasErrors(): boolean {
    return this.issues.some((issue) => issue.severity === 'error');
  }

  error(path: string, message: string, detail: IssueDetail = {}): void {
    this.issues.push({ severity: 'error', path, message, ...detail });
  }

  warn(path: string, message: string, detail: IssueDetail = {}): void {
    this.issues.push({ severity: 'warning', path, message, ...detail });
  }

  take(path: string, value: unknown, reason?: string): void {
    this.#account.set(path, { path, fate: 'taken', value: plainJson(value), ...(reason === undefined ? {} : { reason }) });
  }

  defaulted(path: string, value: unknown, reason: string): void {
    this.#account.set(path, { path, fate: 'defaulted', value: plainJson(value), reason });
  }

  ignore(path: string, reason: string): void {
    this.#account.set(path, { path, fate: 'ignored', reason });
  }

  /** Keeps a key that has no place in a Task. */
  carry(path: string, value: unknown): void {
    this.carried[path] = plainJson(value);
  }

  /** A part of the format that this build cannot honour: refused by name, never dropped. */
  refuse(path: string, message: string, capability: string, detail: Pick<Issue, 'place'> = {}): void {
    this.error(path, message, { hint: `Capability ${capability} is not on in this build`, ...detail });
    const reason = `capability ${capability} is not on in this build`;
    if (path !== '') this.#change(path, 'refused', reason);
  }

  /** What was taken at or below a path has no effect after all. */
  setAside(path: string, reason: string): void {
    this.#change(path, 'ignored', reason);
  }

  #change(path: string, fate: 'refused' | 'ignored', reason: string): void {
    for (const [key, entry] of this.#account) {
      if (entry.fate === 'taken' && isAtOrBelow(key, path)) this.#account.set(key, { path: key, fate, reason });
    }
  }
}
