import { AppError } from '../domain/errors.ts';

export function wholeNumber(from: number, to: number): (text: string, flag: string) => number {
  return (text, flag) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    const range = to === Number.MAX_SAFE_INTEGER ? `of at least ${from}` : `from ${from} to ${to}`;
    throw new AppError('usage', `--${flag}: expected a whole number ${range}, found ${quoted(text)}`);
  };
}

export function numberAbove(lowest: number): (text: string, flag: string) => number {
  return (text, flag) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (value > lowest && Number.isFinite(value)) return value;
    throw new AppError('usage', `--${flag}: expected a number above ${lowest}, found ${quoted(text)}`);
  };
}

/** `30d`, `12h`, `15m`, `20s` → milliseconds. */
export function duration(text: string, flag: string): number {
  const found = /^(\d+(?:\.\d+)?)(s|m|h|d)$/.exec(text);
  const unit = found?.[2] === undefined ? undefined : MILLISECONDS[found[2]];
  if (unit === undefined) throw new AppError('usage', `--${flag}: expected a time such as 30d, 12h, 15m or 20s, found ${quoted(text)}`);
  return Number(found?.[1]) * unit;
}

/** `10G`, `500M`, `64K`, `1000` → bytes, in powers of 1,024. */
export function byteSize(text: string, flag: string): number {
  const found = /^(\d+(?:\.\d+)?)([KMGT]?)i?B?$/i.exec(text);
  const power = found?.[2] === undefined ? -1 : ['', 'K', 'M', 'G', 'T'].indexOf(found[2].toUpperCase());
  if (power < 0) throw new AppError('usage', `--${flag}: expected a size such as 10G, 500M or a number of bytes, found ${quoted(text)}`);
  return Math.floor(Number(found?.[1]) * 1024 ** power);
}

export function notEmpty(text: string, flag: string): string {
  if (text.trim() === '') throw new AppError('usage', `--${flag}: expected a value, found an empty one`);
  return text;
}

export function environmentName(text: string, flag: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return text;
  const hint = text.includes('=') ? '. Only the name: its value is read from your environment and never stored' : '';
  throw new AppError('usage', `--${flag}: expected the name of an environment variable, found ${quoted(text)}${hint}`);
}

/** Quoted for a message: control characters are written as escapes. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

const MILLISECONDS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
