import type { RewardFormat } from '../reward-format.ts';
import { headline } from './headline.ts';
import { unreadable } from './verdict-file.ts';

/** 0 → 1, anything else → 0. Only for a task that writes it itself: no mapper and no default ever chooses it. */
export const exitCode: RewardFormat = {
  summary: "the verifier's exit code: 0 passes",
  read({ exitCode: code, range }) {
    if (code === null) return unreadable('reward_missing', 'expected an exit code, found none: the verifier did not end by itself');
    return headline({ rewards: { reward: code === 0 ? 1 : 0 }, key: null, range, source: `exit code ${code}`, warnings: [] });
  },
};
