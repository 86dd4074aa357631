import { terminalJson } from '../domain/terminal-text.ts';
import type { Call } from './command.ts';

/** The value as JSON where a program reads, as text for a person. */
export function tell<T>({ given, terminal }: Call, value: T, text: (value: T) => string): number {
  terminal.out(given.flag('json') ? `${terminalJson(JSON.stringify(value, null, 2))}\n` : text(value));
  return 0;
}
