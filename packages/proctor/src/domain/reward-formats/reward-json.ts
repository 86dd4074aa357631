import type { RewardFormat } from '../reward-format.ts';
import { headline } from './headline.ts';
import { quoted, readVerdictFile, unreadable } from './verdict-file.ts';

export const REWARD_JSON = 'reward.json';

/** A number, or an object of finite numbers. */
export const rewardJson: RewardFormat = {
  summary: 'a number, or an object of numbers, in reward.json',
  read({ files, range, key }) {
    const file = readVerdictFile(files, REWARD_JSON);
    if (file.kind === 'unreadable') return file;
    const parsed = parse(file.text);
    if (parsed.kind === 'not_finite')
      return unreadable('reward_not_finite', `expected finite numbers in ${REWARD_JSON}, found ${quoted(file.text)}`);
    if (parsed.kind === 'none') return unreadable('reward_unreadable', `expected JSON in ${REWARD_JSON}, found ${quoted(file.text)}`);
    const { value } = parsed;
    if (typeof value === 'number') {
      if (!Number.isFinite(value))
        return unreadable('reward_not_finite', `expected a finite number in ${REWARD_JSON}, found ${quoted(file.text)}`);
      const warnings = [`${REWARD_JSON} is a bare number; other runners want an object, {"reward": ${value}}`];
      return headline({ rewards: { reward: value }, key: null, range, source: REWARD_JSON, warnings });
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return unreadable('reward_unreadable', `expected a number or an object of numbers in ${REWARD_JSON}, found ${quoted(file.text)}`);
    }
    return ofObject(Object.entries(value), { text: file.text, range, key });
  },
};

function ofObject(
  entries: [string, unknown][],
  { text, range, key }: { text: string; range: readonly [number, number]; key: string | null },
) {
  if (entries.length === 0) return unreadable('reward_empty', `expected rewards in ${REWARD_JSON}, found an object without keys`);
  const warnings: string[] = [];
  const rewards: [string, number][] = [];
  for (const [name, value] of entries) {
    if (typeof value === 'boolean') warnings.push(`${quoted(name)} is ${value}, taken as ${value ? 1 : 0}`);
    const number = typeof value === 'boolean' ? Number(value) : value;
    if (typeof number !== 'number')
      return unreadable(
        'reward_unreadable',
        `expected a number at ${quoted(name)} in ${REWARD_JSON}, found ${quoted(JSON.stringify(number))}`,
      );
    if (!Number.isFinite(number))
      return unreadable(
        'reward_not_finite',
        `expected a finite number at ${quoted(name)} in ${REWARD_JSON}, found one too large for a double`,
      );
    rewards.push([name, number + 0]);
  }
  if (keysWritten(text) > entries.length) warnings.push(`${REWARD_JSON} says a key twice; the last one counts`);
  return headline({ rewards: Object.fromEntries(rewards), key, range, source: REWARD_JSON, warnings });
}

type Parsed = { kind: 'value'; value: unknown } | { kind: 'not_finite' } | { kind: 'none' };

function parse(text: string): Parsed {
  const value = attempt(text);
  if (value.kind === 'value') return value;
  /** Python writes NaN and Infinity as bare words, which is no JSON: the same text without them tells the two faults apart. */
  const without = text.replace(STRING_OR_WORD, (found) => (found.startsWith('"') ? found : 'null'));
  return without !== text && attempt(without).kind === 'value' ? { kind: 'not_finite' } : value;
}

function attempt(text: string): Parsed {
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch {
    return { kind: 'none' };
  }
}

/** How many keys a flat object spells out, those that a later one overwrites included. */
function keysWritten(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*:/g)].length;
}

const STRING_OR_WORD = /"(?:[^"\\]|\\.)*"|-?Infinity\b|\bNaN\b/g;
