import type { EventData, EventRow, EventType } from './events.ts';
import type { OutcomeResult, Verdict } from './verdict.ts';

/** What a Session read returns: a fold over its log. */
export type Projection = {
  id: string;
  status: 'pending' | 'running' | 'idle' | 'closed';
  stop_reason: string | null;
  created: EventData<'session.created'> | null;
  provisioned: EventData<'environment.provisioned'> | null;
  /** The wait that is open now. */
  pending: EventData<'run.requires_action'>['action'] | null;
  outcomes: OutcomeProjection[];
  runs: number;
  last_seq: number;
  last_at: string | null;
};

export type OutcomeProjection = {
  id: string;
  description: string;
  rubric: string | null;
  iteration: number;
  max_iterations: number;
  grader: 'none' | 'waiting' | 'running' | 'done';
  verdict: Verdict | null;
  reward: number | null;
  result: OutcomeResult | null;
  reason: string | null;
  deliverables: EventData<'deliverable.captured'>[];
  report: EventData<'outcome.defined'>['definition']['report'] | null;
};

export function emptyProjection(id: string): Projection {
  return {
    id,
    status: 'pending',
    stop_reason: null,
    created: null,
    provisioned: null,
    pending: null,
    outcomes: [],
    runs: 0,
    last_seq: 0,
    last_at: null,
  };
}

/** The projection after one more event. Types without an entry change only seq and time. */
export function project(state: Projection, row: EventRow): Projection {
  const next = { ...state, last_seq: row.seq, last_at: row.at };
  if (row.data === null) return next;
  const fold = FOLDS[row.type];
  return fold === undefined ? next : fold(next, JSON.parse(row.data) as never);
}

export function openOutcome(state: Projection): OutcomeProjection | null {
  return state.outcomes.find((outcome) => outcome.result === null) ?? null;
}

type Folds = { [K in EventType]?: (state: Projection, data: EventData<K>) => Projection };

const TYPED_FOLDS: Folds = {
  'session.created': (state, data) => ({ ...state, created: data }),
  'session.status': (state, data) => ({ ...state, status: data.status, stop_reason: data.stop_reason ?? null }),
  'session.closed': (state) => ({ ...state, status: 'closed', pending: null }),
  'environment.provisioned': (state, data) => ({ ...state, provisioned: data }),
  'run.started': (state) => ({ ...state, runs: state.runs + 1, pending: null }),
  'run.requires_action': (state, data) => ({ ...state, pending: data.action }),
  'run.interrupted': (state) => ({ ...state, pending: null }),
  'outcome.defined': (state, { outcome_id, definition }) => ({
    ...state,
    outcomes: [
      ...state.outcomes,
      {
        id: outcome_id,
        description: definition.description,
        rubric: definition.rubric ?? null,
        iteration: 0,
        max_iterations: definition.max_iterations,
        grader: 'none',
        verdict: null,
        reward: null,
        result: null,
        reason: null,
        deliverables: [],
        report: definition.report ?? null,
      },
    ],
  }),
  'outcome.evaluation_started': (state, data) => change(state, data.outcome_id, { iteration: data.iteration ?? 0, grader: 'waiting' }),
  'verifier.started': (state, data) => change(state, data.outcome_id, { grader: 'running' }),
  'outcome.evaluation_completed': (state, data) => ({
    ...change(state, data.outcome_id, { grader: 'done', verdict: data.verdict, reward: data.reward }),
    pending: null,
  }),
  'outcome.settled': (state, data) => ({ ...change(state, data.outcome_id, { result: data.result, reason: data.reason }), pending: null }),
  'deliverable.captured': (state, data) => ({
    ...state,
    outcomes: state.outcomes.map((outcome) =>
      outcome.id === data.outcome_id ? { ...outcome, deliverables: [...outcome.deliverables, data] } : outcome,
    ),
  }),
};
const FOLDS = TYPED_FOLDS as Partial<Record<EventType, (state: Projection, data: never) => Projection>>;

function change(state: Projection, id: string, values: Partial<OutcomeProjection>): Projection {
  return { ...state, outcomes: state.outcomes.map((outcome) => (outcome.id === id ? { ...outcome, ...values } : outcome)) };
}
