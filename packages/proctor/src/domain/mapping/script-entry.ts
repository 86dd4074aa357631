import type { Place } from '../issue.ts';
import type { MappingLog } from './mapping-log.ts';

/**
 * How a script is started: itself, since its first line names its interpreter; through bash, which is what a shell does with a script that names
 * none. `script` null = its text is not known.
 */
export function scriptArgv(path: string, script: string | null, place: Place, log: MappingLog): string[] {
  const firstLine = script?.split('\n', 1)[0] ?? null;
  if (firstLine === null) return [path];
  if (firstLine.startsWith('#!')) {
    if (firstLine.endsWith('\r')) {
      log.warn('', 'the first line ends in CRLF: the kernel looks for an interpreter with a carriage return in its name', {
        hint: 'Save the file with LF line endings',
        place: { ...place, line: 1, column: firstLine.length },
      });
    }
    return [path];
  }
  log.warn('', 'the first line names no interpreter: bash runs it', {
    hint: 'Begin with #!/bin/bash',
    place: { ...place, line: 1, column: 1 },
  });
  return ['bash', path];
}
