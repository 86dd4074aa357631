import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Of the package that this file is part of, built or not. */
export function packageVersion(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    try {
      const found: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      if (typeof found === 'object' && found !== null && 'name' in found && found.name === 'proctor' && 'version' in found)
        return String(found.version);
    } catch {
      // Not in this folder.
    }
    if (dirname(folder) === folder) return 'unknown';
  }
}
