import type { RewardFormat } from '../reward-format.ts';
import { exitCode } from './exit-code.ts';
import { rewardFile } from './reward-file.ts';
import { rewardJson } from './reward-json.ts';
import { rewardText } from './reward-text.ts';

/** A task names one of these; `reward_file` is the default of formats whose verifiers may publish either file. */
export const REWARD_FORMATS = {
  reward_file: rewardFile,
  reward_json: rewardJson,
  reward_text: rewardText,
  exit_code: exitCode,
} satisfies Record<string, RewardFormat>;
