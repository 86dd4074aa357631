import type { EventData } from './events.ts';
import type { SessionSummary } from './session-summary.ts';
import type { OutcomeState } from './trial-result.ts';

type Identity = Pick<
  SessionSummary,
  | 'experiment'
  | 'trial'
  | 'lane'
  | 'task'
  | 'task_digest'
  | 'tags'
  | 'repetition'
  | 'attempt'
  | 'agent'
  | 'agent_kind'
  | 'environment'
  | 'resources'
  | 'regrades'
>;

/** What the fold has seen so far. */
export type SessionFacts = {
  sessionId: string;
  identity: Identity;
  isolation: SessionSummary['isolation'];
  provider: string | null;
  imageId: string | null;
  createdAt: string | null;
  endedAt: string | null;
  events: number;
  outcomes: Map<string, OutcomeState>;
  verdict: EventData<'outcome.evaluation_completed'> | null;
  verdictSeq: number | null;
  iterations: number;
  closed: EventData<'session.closed'> | null;
  environmentFailure: EventData<'environment.failed'> | null;
  provisioned: boolean;
  runFailure: EventData<'run.failed'> | null;
  runStartedAt: string | null;
  budgetReached: boolean;
  place: SessionSummary['place'];
  tokens: SessionSummary['tokens'];
  costNanoUsd: number | null;
  usageIncomplete: boolean;
  toolCalls: number | null;
  tools: Map<string, number>;
  activeMs: number | null;
  clocks: SessionSummary['clocks'];
  agentExit: string | null;
  notEnforced: Set<string>;
  warnings: SessionSummary['warnings'];
  tests: SessionSummary['tests'];
};

export function emptyFacts(sessionId: string): SessionFacts {
  return {
    sessionId,
    identity: {
      experiment: null,
      trial: null,
      lane: null,
      task: null,
      task_digest: null,
      tags: [],
      repetition: null,
      attempt: null,
      agent: null,
      agent_kind: null,
      environment: null,
      resources: null,
      regrades: null,
    },
    isolation: null,
    provider: null,
    imageId: null,
    createdAt: null,
    endedAt: null,
    events: 0,
    outcomes: new Map(),
    verdict: null,
    verdictSeq: null,
    iterations: 0,
    closed: null,
    environmentFailure: null,
    provisioned: false,
    runFailure: null,
    runStartedAt: null,
    budgetReached: false,
    place: null,
    tokens: null,
    costNanoUsd: null,
    usageIncomplete: false,
    toolCalls: null,
    tools: new Map(),
    activeMs: null,
    clocks: { build_ms: null, provision_ms: null, agent_setup_ms: null, agent_ms: null, verifier_ms: null },
    agentExit: null,
    notEnforced: new Set(),
    warnings: [],
    tests: null,
  };
}
