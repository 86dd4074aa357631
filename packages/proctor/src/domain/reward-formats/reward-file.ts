import type { RewardFormat } from '../reward-format.ts';
import { REWARD_JSON, rewardJson } from './reward-json.ts';
import { REWARD_TEXT, rewardText } from './reward-text.ts';
import { unreadable } from './verdict-file.ts';

/** `reward.json` where it exists, even when it cannot be read: a verifier that began to write it meant it. Else `reward.txt`. */
export const rewardFile: RewardFormat = {
  summary: 'reward.json, else reward.txt, in the verdict directory',
  read(evidence) {
    if (evidence.files.has(REWARD_JSON)) return rewardJson.read(evidence);
    if (evidence.files.has(REWARD_TEXT)) return rewardText.read(evidence);
    return unreadable(
      'reward_missing',
      `expected ${REWARD_JSON} or ${REWARD_TEXT} in the verdict directory, found ${found(evidence.files)}`,
    );
  },
};

function found(files: ReadonlyMap<string, unknown>): string {
  if (files.size === 0) return 'no file';
  const names = [...files.keys()].sort();
  return `${names
    .slice(0, 5)
    .map((name) => JSON.stringify(name))
    .join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
}
