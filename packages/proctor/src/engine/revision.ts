import type { Sandbox } from '../sandbox.ts';
import { collect, packEntries } from '../system/tar.ts';
import { FEEDBACK_FILE } from './provision.ts';

/** What the next Run of an Outcome is told: the retained task, what the check said, and how many attempts are left after this one. */
export function revisionMessage(facts: { task: string; rubric: string | null; feedback: string; attemptsLeft: number }): string {
  const last = facts.attemptsLeft <= 1 ? 'This is the last attempt.' : `${facts.attemptsLeft} attempts are left, this one included.`;
  return [
    `Your work was checked and is not accepted yet. Your files are as you left them. ${last}`,
    '',
    '## What the check said',
    facts.feedback,
    '',
    '## The task',
    facts.task,
  ].join('\n');
}

export async function writeFeedback(sandbox: Sandbox, feedback: string): Promise<void> {
  await sandbox.upload(
    await collect(packEntries([{ path: FEEDBACK_FILE.slice(1), type: 'file', mode: 0o644, content: Buffer.from(feedback) }])),
    '/',
  );
}
