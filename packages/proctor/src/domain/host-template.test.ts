import { expect, test } from 'vitest';
import { resolveHostTemplate } from './host-template.ts';

const host: Record<string, string> = { TOKEN: 't-1', EMPTY: '' };
const read = (name: string) => host[name];

test.each([
  ['plain', { kind: 'literal', value: 'plain' }],
  ['${TOKEN}', { kind: 'host', name: 'TOKEN', value: 't-1' }],
  ['${EMPTY:-x}', { kind: 'host', name: 'EMPTY', value: '' }],
  ['${ABSENT:-x}', { kind: 'literal', value: 'x' }],
  ['${ABSENT:-}', { kind: 'literal', value: '' }],
  ['${ABSENT}', { kind: 'missing', name: 'ABSENT' }],
  ['prefix-${TOKEN}', { kind: 'literal', value: 'prefix-${TOKEN}' }],
  ['${TOKEN}${TOKEN}', { kind: 'literal', value: '${TOKEN}${TOKEN}' }],
])('%s is a template only when it is the whole value', (value, expected) => {
  expect(resolveHostTemplate(value, read)).toEqual(expected);
});
