import type { Sandbox } from '../sandbox.ts';

/** Whatever is left here is kept, as in Harbor. */
export const ARTIFACTS_DIRECTORY = '/logs/artifacts';

/** Directories that every sandbox has, whatever its image. */
const PLACES = ['/tests', '/logs', '/solution', '/opt/agent'];

/** Where things are, for every script that we run. */
export function placeVariables(sandbox: Sandbox, workdir: string): Record<string, string> {
  return { PROCTOR_TESTS: sandbox.inside('/tests'), PROCTOR_LOGS: sandbox.inside('/logs'), PROCTOR_WORKDIR: sandbox.inside(workdir) };
}

/** An argv whose sandbox paths are as processes inside see them. */
export function placedArgv(argv: readonly string[], sandbox: Sandbox, workdir: string): string[] {
  return argv.map((item) =>
    [...PLACES, workdir].some((place) => item === place || item.startsWith(`${place}/`)) ? sandbox.inside(item) : item,
  );
}
