// Writes docs/cli.md from the table of commands, so that the page and --help say the same.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { cliReference } from '../packages/proctor/src/cli/reference.ts';
import { root } from './run-step.ts';

writeFileSync(path.join(root, 'docs/cli.md'), cliReference());
process.stdout.write('wrote docs/cli.md\n');
