import type { Call } from './command.ts';

/** Started by an experiment beside itself, never by a person. */
export async function run({ words }: Call): Promise<number> {
  const { runJanitor } = await import('../compose/run-janitor.ts');
  await runJanitor(words[0] ?? '', words[1] ?? '');
  return 0;
}
