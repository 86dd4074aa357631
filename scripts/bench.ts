// Runs every benchmark of bench/, or those whose file names are given. Each prints a ratio measured side by side in one run.
import { globSync } from 'node:fs';
import path from 'node:path';
import { printResults, root, runStep } from './run-step.ts';

const wanted = process.argv.slice(2).map((name) => path.basename(name).replace(/\.ts$/, ''));
const present = globSync('*.ts', { cwd: path.join(root, 'bench') })
  .map((file) => file.replace(/\.ts$/, ''))
  .sort();
const unknown = wanted.filter((name) => !present.includes(name));
if (unknown.length > 0) {
  console.error(`no benchmark named ${unknown.join(', ')}: there are ${present.join(', ') || 'none'}`);
  process.exit(64);
}

const results = [];
for (const name of wanted.length > 0 ? wanted : present) {
  results.push(await runStep({ name, argv: [process.execPath, '--expose-gc', path.join(root, 'bench', `${name}.ts`)] }));
}
printResults(results);
process.exitCode = results.every((result) => result.passed) ? 0 : 1;
