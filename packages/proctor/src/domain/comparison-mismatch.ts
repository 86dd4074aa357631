import type { Comparison } from './report-schema.ts';
import { taskOf } from './report-trials.ts';
import type { SessionSummary } from './session-summary.ts';

type Reasons = Comparison['reasons'];

/** What must be alike for a difference to speak of the agents. Values that neither side recorded are alike. */
const ALIKE: readonly { code: string; what: string; value: (session: SessionSummary) => unknown }[] = [
  { code: 'task_digest', what: 'the task or its verifier differs', value: (session) => session.task_digest },
  { code: 'pass_threshold', what: 'the pass threshold differs', value: (session) => session.pass_threshold },
  { code: 'max_iterations', what: 'the bound of iterations differs', value: (session) => session.max_iterations },
  { code: 'resources', what: 'cpus, memory, processes or network differ', value: (session) => session.resources },
  { code: 'not_enforced', what: 'the limits that could not be enforced differ', value: (session) => [...session.not_enforced].sort() },
  { code: 'isolation', what: 'the isolation differs', value: (session) => session.isolation },
];

export function mismatches(baseline: readonly SessionSummary[], lane: readonly SessionSummary[]): Reasons {
  const before = Map.groupBy(baseline, taskOf);
  const after = Map.groupBy(lane, taskOf);
  const common = [...before.keys()].filter((task) => after.has(task)).sort();
  const reasons: Reasons = [];
  for (const { code, what, value } of ALIKE) {
    const values = (task: string) => [...(before.get(task) ?? []), ...(after.get(task) ?? [])].map((session) => known(value(session)));
    const tasks = common.filter((task) => new Set(values(task).filter((text) => text !== null)).size > 1);
    if (tasks.length > 0) reasons.push({ code, message: `${what} in ${tasks.length} of ${common.length} tasks`, tasks });
  }
  const unisolated = common.filter((task) =>
    [...(before.get(task) ?? []), ...(after.get(task) ?? [])].some((session) => session.isolation === 'none'),
  );
  if (unisolated.length > 0)
    reasons.push({
      code: 'isolation_none',
      message: `${unisolated.length} of ${common.length} tasks ran without isolation, so trials could reach each other`,
      tasks: unisolated,
    });
  return reasons;
}

function known(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
