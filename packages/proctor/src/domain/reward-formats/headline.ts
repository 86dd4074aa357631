import type { RewardReading } from '../verdict.ts';
import { quoted, unreadable } from './verdict-file.ts';

export type Published = {
  /** Finite numbers, at least one. */
  rewards: Record<string, number>;
  key: string | null;
  range: readonly [number, number];
  source: string;
  warnings: string[];
};

/** Which of the published rewards is the verdict's: the key that was named, else `reward`, else the only one. Only it has to be in range. */
export function headline({ rewards, key, range, source, warnings }: Published): RewardReading {
  const names = Object.keys(rewards);
  const name = key ?? (Object.hasOwn(rewards, 'reward') ? 'reward' : names.length === 1 ? names[0] : undefined);
  const reward = name !== undefined && Object.hasOwn(rewards, name) ? rewards[name] : undefined;
  if (reward === undefined) {
    const listed = names.slice(0, 10).map(quoted).join(', ');
    const wanted = key === null ? 'one key, or a key named reward' : `the key ${quoted(key)}`;
    return { ...unreadable('no_headline', `expected ${wanted} in ${source}, found ${listed}. Name one with --reward-key`), rewards };
  }
  const [minimum, maximum] = range;
  if (reward < minimum || reward > maximum) {
    return {
      ...unreadable('reward_out_of_range', `expected a reward from ${minimum} to ${maximum} in ${source}, found ${reward}`),
      rewards,
    };
  }
  return { kind: 'reward', reward: reward + 0, rewards, source, warnings };
}
