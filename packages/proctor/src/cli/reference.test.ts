import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { cliReference } from './reference.ts';

test('docs/cli.md says what the commands say (scripts/write-cli-reference.ts writes it)', () => {
  expect(readFileSync(path.join(import.meta.dirname, '../../../../docs/cli.md'), 'utf8')).toBe(cliReference());
});
