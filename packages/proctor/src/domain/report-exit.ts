import type { Report } from './report-schema.ts';
import type { Trials } from './report-trials.ts';

type Given = { accept_retries: boolean; interrupted: boolean };

/** The process's exit code with its reasons. Where several apply: 130, 2, 3, 1. Every reason is given, the strongest first. */
export function exitOf({ accept_retries, interrupted }: Given, trials: Trials): Report['exit'] {
  const { sessions } = trials;
  const unsettled = sessions.filter((session) => !session.settled).length;
  const unscored = sessions.filter((session) => session.settled && session.trial_result === 'unscored').length;
  const unsatisfied = sessions.filter(({ verdict }) => verdict !== null && verdict !== 'satisfied').length;
  const withoutVerdict = sessions.filter((one) => one.settled && one.verdict === null && one.trial_result !== 'unscored').length;
  const retries = accept_retries ? 0 : trials.superseded.length;
  const found: { code: Report['exit']['code']; reason: string | null }[] = [
    { code: 130, reason: interrupted ? 'interrupted' : null },
    { code: 2, reason: some(trials.refused.length, 'task was refused', 'tasks were refused') },
    { code: 2, reason: sessions.length === 0 && trials.refused.length === 0 ? 'no Session to report on' : null },
    { code: 3, reason: some(unsettled, 'trial has not settled', 'trials have not settled') },
    { code: 3, reason: some(unscored, 'trial could not be scored', 'trials could not be scored') },
    { code: 3, reason: some(trials.notStarted, 'planned trial was never started', 'planned trials were never started') },
    {
      code: 3,
      reason: some(
        retries,
        'attempt was superseded (--accept-retries accepts this)',
        'attempts were superseded (--accept-retries accepts this)',
      ),
    },
    { code: 1, reason: some(unsatisfied, 'verdict is not satisfied', 'verdicts are not satisfied') },
    { code: 1, reason: some(withoutVerdict, 'trial has no verdict', 'trials have no verdict') },
  ];
  const reasons = found.filter((entry) => entry.reason !== null);
  return { code: reasons[0]?.code ?? 0, reasons: reasons.map((entry) => entry.reason ?? '') };
}

function some(count: number, one: string, many: string): string | null {
  return count === 0 ? null : `${count} ${count === 1 ? one : many}`;
}
