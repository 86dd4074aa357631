import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failed, sampleInput, summary, unscored } from '../../../../fixtures/results/sample.ts';
import { makeReport, type ReportInput } from '../domain/report.ts';
import { type Report, ReportSchema } from '../domain/report-schema.ts';
import { seededRandom } from '../domain/statistics-random.ts';
import { cellWidth } from '../domain/terminal-text.ts';
import { REPORT_FORMATS } from './index.ts';

const golden = path.join(import.meta.dirname, '..', '..', '..', '..', 'fixtures', 'results');
const report = (input: ReportInput): Report => makeReport(input, { random: seededRandom(1), draws: 200 });
const options = { color: false, columns: 80, timeZone: 'utc' } as const;
const ACTING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/u;
const empty: ReportInput = { ...sampleInput(), title: 'empty', sessions: [], refused: [], planned_trials: null };

/** Hostile words in every place where an agent, a task or a verifier can put words. */
const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '\u001b[2J\u001b[H',
    '\u009b31m',
    '\u202eevil',
    ']]>',
    '<!--',
    '| a | b |',
    '`x` <script>',
    '"&\'',
    '\u0000\u0008',
    '\ufffe',
    '日本語'.repeat(20),
    'x'.repeat(300),
    '[a](javascript:x)',
    '@everyone',
    '\n# heading',
  ),
);
const hostileInput = fc.tuple(word, word, word, word, word).map(
  ([title, task, detail, tool, lane]): ReportInput => ({
    ...sampleInput(),
    title,
    experiment: detail,
    sessions: [
      summary({
        session_id: 'sesn_1',
        task,
        lane,
        tools: { [tool]: 1 },
        tool_calls: 1,
        warnings: [{ code: 'tools_changed', message: detail, seq: 3 }],
        not_enforced: [tool],
      }),
      summary({
        ...failed,
        session_id: 'sesn_2',
        trial: 't2',
        task,
        lane,
        repetition: 2,
        failure_detail: detail,
        tests: { total: 1, passed: 0, failed: [tool] },
      }),
      summary({
        ...unscored,
        session_id: 'sesn_3',
        trial: 't3',
        task: detail,
        lane: tool,
        failure_detail: title,
        agent: { id: 'a', version: 1, name: task, digest: 'd' },
      }),
    ],
    refused: [{ task, path: detail, issues: [{ severity: 'error', path: tool, message: title }] }],
  }),
);

describe.each(Object.entries(REPORT_FORMATS))('%s', (_, format) => {
  test('renders a report without a Session', () => {
    expect(format.render(report(empty), options).length).toBeGreaterThan(10);
  });

  test('lets no byte of anybody else act on a terminal', () => {
    fc.assert(
      fc.property(hostileInput, (input) => {
        const text = format.render(report(input), options);
        expect(text.replaceAll('\n', '').replaceAll('\t', '')).not.toMatch(ACTING);
        expect(text.isWellFormed()).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test('is the same text for the same report', () => {
    expect(format.render(report(sampleInput()), options)).toBe(format.render(report(sampleInput()), options));
  });

  test('never writes NaN, Infinity or undefined', () => {
    for (const input of [sampleInput(), empty]) expect(format.render(report(input), options)).not.toMatch(/\bNaN\b|Infinity|undefined/);
  });
});

test.each([
  ['terminal-80.txt', 'terminal', 80],
  ['terminal-200.txt', 'terminal', 200],
  ['report-markdown.txt', 'markdown', 80],
  ['report.xml', 'junit', 80],
  ['report.json', 'json', 80],
] as const)('fixtures/results/%s is what the sample renders to', async (file, name, columns) => {
  await expect(REPORT_FORMATS[name].render(report(sampleInput()), { ...options, columns })).toMatchFileSnapshot(path.join(golden, file));
});

describe('the terminal report', () => {
  const { terminal } = REPORT_FORMATS;

  test('begins with the verdict, both denominators and the interval', () => {
    const one = {
      ...sampleInput(),
      refused: [],
      planned_trials: null,
      sessions: Array.from({ length: 15 }, (_, i) =>
        summary({ session_id: `sesn_${i}`, trial: `t${i}`, task: `task-${i}`, ...(i < 12 ? {} : failed) }),
      ),
    };
    expect(terminal.render(report(one), { ...options, columns: 120 }).split('\n')[0]).toBe(
      '12 of 15 passed · 80.0 % [54.8, 93.0] of scored, 80.0 % [54.8, 93.0] of all 15',
    );
  });

  test.each([40, 80, 200])('no line is wider than %d columns, whatever the words', (columns) => {
    fc.assert(
      fc.property(hostileInput, (input) => {
        for (const line of terminal.render(report(input), { ...options, columns }).split('\n'))
          expect(cellWidth(line), line).toBeLessThanOrEqual(columns);
      }),
      { numRuns: 25 },
    );
  });

  test('colour adds only our own codes, each line closes what it opens', () => {
    const plain = terminal.render(report(sampleInput()), options);
    const coloured = terminal.render(report(sampleInput()), { ...options, color: true });
    expect(coloured).not.toBe(plain);
    expect(coloured.replace(/\u001b\[(?:1|2|22|31|32|33|39)m/g, '')).toBe(plain);
    for (const line of coloured.split('\n'))
      expect((line.match(/\u001b\[(?:1|2|31|32|33)m/g) ?? []).length).toBe((line.match(/\u001b\[(?:22|39)m/g) ?? []).length);
  });

  test('a missing measurement is a dash, never 0', () => {
    const text = terminal.render(report({ ...sampleInput(), sessions: [summary({ active_ms: null })] }), options);
    expect(text).toMatch(/— not recorded: .*cost/);
    expect(text).not.toMatch(/\$0/);
  });
});

describe('JSON', () => {
  test('parses to the Report, which is of the published shape', () => {
    fc.assert(
      fc.property(hostileInput, (input) => {
        const made = report(input);
        const parsed: unknown = JSON.parse(REPORT_FORMATS.json.render(made, options));
        expect(parsed).toEqual(JSON.parse(JSON.stringify(made)));
        ReportSchema.parse(parsed);
      }),
      { numRuns: 30 },
    );
  });

  test('a number that is none is an error, not null', () => {
    const made = { ...report(sampleInput()), isolation_none: Number.NaN };
    expect(() => REPORT_FORMATS.json.render(made, options)).toThrow(/finite number at isolation_none/);
  });
});

describe('JUnit', () => {
  test('is well-formed XML whatever the words', () => {
    fc.assert(
      fc.property(hostileInput, (input) => {
        expect(faultOf(REPORT_FORMATS.junit.render(report(input), options))).toBeNull();
      }),
      { numRuns: 30 },
    );
  });

  test('judged and not passed is a failure, not judged an error, not ended or cancelled is skipped', () => {
    const sessions = [
      summary({ task: 'a' }),
      summary({ ...failed, task: 'b' }),
      summary({ ...unscored, task: 'c' }),
      summary({ ...unscored, attribution: 'cancelled', task: 'd' }),
      summary({ settled: false, trial_result: 'unscored', task: 'e' }),
    ];
    const text = REPORT_FORMATS.junit.render(
      report({ ...empty, sessions: sessions.map((one, i) => ({ ...one, session_id: `sesn_${i}`, trial: `t${i}` })) }),
      options,
    );
    expect(text).toMatch(/tests="5" failures="1" errors="1" skipped="2"/);
  });
});

describe('Markdown', () => {
  test('words of others make no markup', () => {
    const title = '<img src=x> | **b** [a](javascript:x) @everyone https://example.org';
    const line = REPORT_FORMATS.markdown.render(report({ ...empty, title }), options).split('\n')[0];
    expect(line).toBe('# &lt;img src=x\\> \\| \\*\\*b\\*\\* \\[a\\]\\(javascript:x\\) @<!-- -->everyone https<!-- -->://example.org');
  });

  test('every row of a table has as many cells as its header', () => {
    fc.assert(
      fc.property(hostileInput, (input) => {
        let cells = 0;
        for (const line of REPORT_FORMATS.markdown.render(report(input), options).split('\n')) {
          const now = line.startsWith('| ') ? line.replace(/\\[\\|]/g, '').split('|').length : 0;
          if (now !== 0 && cells !== 0) expect(now, line).toBe(cells);
          cells = now;
        }
      }),
      { numRuns: 25 },
    );
  });
});

/** The first fault of XML text: tags that do not nest, a bare `&` or `<`, a character that XML forbids. */
function faultOf(xml: string): string | null {
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(xml)) return 'a forbidden character';
  const open: string[] = [];
  const rest = xml
    .replace(/^<\?xml [^?]*\?>/, '')
    .replace(/<(\/?)([a-z-]+)((?: [a-z_]+="[^"<]*")*)(\/?)>/g, (_, closes: string, name: string, attributes: string, single: string) => {
      if (closes !== '') return open.pop() === name ? '' : '<';
      if (single === '') open.push(name);
      return attributes.replace(/[^&]*/, '').length > 0 ? attributes.replaceAll('<', '') : '';
    });
  if (rest.includes('<') || open.length > 0) return `not nested: ${open.join(' ')} ${rest.slice(0, 80)}`;
  return /&(?!(?:amp|lt|gt|quot|#x[0-9a-f]+);)/.test(rest) ? 'a bare &' : null;
}

test('every format names the whole trial of a superseded attempt, and the terminal says how many it leaves out', () => {
  const repetitions = Array.from({ length: 5 }, (_, index) => index + 1);
  const trials = repetitions.flatMap((repetition) =>
    ['a', 'b'].map((lane) =>
      summary({ ...failed, session_id: `sesn_${lane}${repetition}`, trial: `${lane}${repetition}`, task: 'one', lane, repetition }),
    ),
  );
  const earlier = summary({ ...unscored, session_id: 'sesn_old', trial: 'b2', task: 'one', lane: 'b', repetition: 2, attempt: 1 });
  const sessions = [earlier, ...trials.map((one) => (one.trial === 'b2' ? { ...one, attempt: 2 } : one))];
  const made = report({ ...sampleInput(), sessions, refused: [], planned_trials: null });
  expect(made.superseded.map((one) => one.session_id)).toEqual(['sesn_old']);
  const terminal = REPORT_FORMATS.terminal.render(made, { ...options, columns: 200 });
  expect(terminal).toContain('superseded: attempt 1 of one, b, repetition 2 · sesn_old');
  expect(terminal).toContain('    and 7 more\n');
  expect(REPORT_FORMATS.markdown.render(made, options)).toContain('- one, b, repetition 2: attempt 1, sesn\\_old');
});
