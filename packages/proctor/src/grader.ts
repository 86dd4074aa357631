export type { RewardEvidence, RewardFormat } from './domain/reward-format.ts';
