import type { RewardFormat } from '../reward-format.ts';
import { parseDecimal } from './decimal.ts';
import { headline } from './headline.ts';
import { quoted, readVerdictFile, unreadable } from './verdict-file.ts';

export const REWARD_TEXT = 'reward.txt';

/** One number. Its own name is `reward`, so a headline key for tasks with several rewards does not apply to it. */
export const rewardText: RewardFormat = {
  summary: 'one number in reward.txt',
  read({ files, range }) {
    const file = readVerdictFile(files, REWARD_TEXT);
    if (file.kind === 'unreadable') return file;
    const number = parseDecimal(file.text);
    switch (number.kind) {
      case 'number':
        return headline({ rewards: { reward: number.value }, key: null, range, source: REWARD_TEXT, warnings: number.warnings });
      case 'not_finite':
        return unreadable('reward_not_finite', `expected a finite number in ${REWARD_TEXT}, found ${quoted(file.text)}`);
      case 'none':
        return unreadable('reward_unreadable', `expected one number in ${REWARD_TEXT}, found ${quoted(file.text)}`);
      default:
        return number satisfies never;
    }
  },
};
