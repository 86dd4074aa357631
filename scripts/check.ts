// Everything that can be said about the sources without running the product.
import { installed, printResults, runStep, type Step } from './run-step.ts';

const steps: Step[] = [
  { name: 'format and lint', argv: installed('biome', 'ci', '--colors=off', '.') },
  { name: 'types', argv: installed('tsc', '-p', '.') },
  { name: 'nothing unused', argv: installed('knip') },
  { name: 'who imports whom', argv: installed('vitest', 'run', 'packages/proctor/test/architecture.test.ts') },
];

const results = [];
for (const step of steps) results.push(await runStep(step));
printResults(results);
process.exitCode = results.every((result) => result.passed) ? 0 : 1;
