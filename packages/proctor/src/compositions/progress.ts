import type { SessionSummary } from '../domain/summary.ts';

/** What an experiment tells whoever watches it. Rendering is the watcher's. */
export type Progress =
  | { kind: 'compiled'; tasks: number; refused: number }
  | {
      kind: 'planned';
      trials: number;
      reused: number;
      reusedFrom: string | null;
      concurrency: number;
      experiment: string;
      lanes: string[];
      notes: string[];
    }
  | { kind: 'trial_started'; trial: TrialLabel; session: string }
  | { kind: 'trial_phase'; trial: TrialLabel; phase: TrialPhase; detail: string | null; at: number }
  | { kind: 'trial_ended'; trial: TrialLabel; summary: SessionSummary; willRetry: boolean }
  | { kind: 'trial_reused'; trial: TrialLabel; summary: SessionSummary }
  | { kind: 'stopping'; reason: 'interrupted' | 'fail_fast' | 'disk' };

export type TrialLabel = { task: string; lane: string; repetition: number; attempt: number };

/** What a running trial is doing or waiting for. */
export type TrialPhase = 'admission' | 'image' | 'provision' | 'agent_setup' | 'agent' | 'verifier' | 'settling';
