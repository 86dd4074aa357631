// Writes schemas/report.schema.json from the schema that the code validates with. A test fails when the two differ.
import { writeFileSync } from 'node:fs';
import { reportJsonSchema } from '../packages/proctor/src/domain/report-json-schema.ts';

writeFileSync(new URL('../schemas/report.schema.json', import.meta.url), `${JSON.stringify(reportJsonSchema(), null, 2)}\n`);
