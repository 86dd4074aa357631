// Copies the statistics part of a vectors file into fixtures/statistics/vectors.json, where the tests of domain/statistics read it.
import { readFileSync, writeFileSync } from 'node:fs';

const source = process.argv[2] ?? '';
if (source === '') {
  console.error('expected the path of a vectors file: import-statistics-vectors.ts <terminal-bench-vectors.json>');
  process.exit(64);
}
const { statistics } = JSON.parse(readFileSync(source, 'utf8')) as { statistics: unknown };
writeFileSync(new URL('../fixtures/statistics/vectors.json', import.meta.url), `${JSON.stringify(statistics, null, 1)}\n`);
