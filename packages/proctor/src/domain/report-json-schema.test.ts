import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { reportJsonSchema } from './report-json-schema.ts';

test('the published JSON Schema is the one the code validates with (else: node scripts/require-node-24.cjs scripts/write-report-schema.ts)', () => {
  const published = JSON.parse(readFileSync(new URL('../../../../schemas/report.schema.json', import.meta.url), 'utf8'));
  expect(published).toEqual(JSON.parse(JSON.stringify(reportJsonSchema())));
});

test('every key of the Report is required, so that missing is written as null', () => {
  const schema = reportJsonSchema() as { properties: object; required: string[] };
  expect(schema.required.toSorted()).toEqual(Object.keys(schema.properties).toSorted());
});
