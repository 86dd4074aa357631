import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedaction, REDACTED } from './redaction.ts';

const secret = 'sk-live-4f9Qz/+ "x"\nend';

describe('a secret is found', () => {
  test.each([
    ['as it is', secret],
    ['as a terminal writes it', secret.replaceAll('\n', '\r\n')],
    ['inside JSON', JSON.stringify({ key: secret })],
    ['in a URL', `https://host/?key=${encodeURIComponent(secret)}`],
    ['in a form', `key=${encodeURIComponent(secret).replaceAll('%20', '+')}`],
    ['in hex', Buffer.from(secret).toString('hex')],
    ['in base64url', Buffer.from(secret).toString('base64url')],
    ['in base64 after no byte', Buffer.from(`${secret}:x`).toString('base64')],
    ['in base64 after one byte', Buffer.from(`u${secret}`).toString('base64')],
    ['in base64 after two bytes', Buffer.from(`u:${secret}more`).toString('base64')],
  ])('%s', (_, text) => {
    expect(createRedaction([secret]).text(`before ${text} after`)).toMatch(/^before .*\[REDACTED\].* after$/);
  });
});

test('the rest of the text stays byte for byte', () => {
  const redaction = createRedaction(['hunter22']);
  expect(redaction.text('a hunter22b hunter2 é 🎉')).toBe(`a ${REDACTED}b hunter2 é 🎉`);
  const binary = Uint8Array.from({ length: 256 }, (_, index) => index);
  expect(redaction.bytes(binary)).toEqual(binary);
});

test('of two secrets that overlap nothing remains', () => {
  const redaction = createRedaction(['abcdef', 'defghi', 'abcd']);
  expect(redaction.text('xabcdefghiy')).toBe(`x${REDACTED}y`);
  expect(redaction.text('abcdabcd')).toBe(REDACTED.repeat(2));
});

test('a short value or a plain word would turn every log into holes, and is left', () => {
  const redaction = createRedaction(['', '1', 'yes', 'true', 'None']);
  expect(redaction.active).toBe(false);
  expect(redaction.text('true 1 yes None')).toBe('true 1 yes None');
});

test('strings and keys of JSON are covered, other values stay', () => {
  expect(createRedaction(['hunter22']).json({ hunter22: ['x hunter22', 1, null, { a: true }] })).toEqual({
    [REDACTED]: [`x ${REDACTED}`, 1, null, { a: true }],
  });
});

describe('whatever the text, the secrets and the cuts', () => {
  // A small alphabet, so that secrets overlap, repeat and begin one another.
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\n', '"'), minLength: 4, maxLength: 8 });
  const text = fc.array(fc.oneof(word, fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 20 }).map((parts) => parts.join(''));

  test('a stream gives what the whole gives, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), text, fc.array(fc.nat({ max: 7 })), (secrets, content, cuts) => {
        const redaction = createRedaction(secrets);
        const bytes = Buffer.from(content);
        const stream = redaction.stream();
        const parts: Uint8Array[] = [];
        let at = 0;
        for (const cut of cuts) {
          parts.push(stream.push(bytes.subarray(at, at + cut)));
          at = Math.min(bytes.length, at + cut);
        }
        parts.push(stream.push(bytes.subarray(at)), stream.end());
        expect(Buffer.concat(parts).toString('hex')).toBe(Buffer.from(redaction.bytes(bytes)).toString('hex'));
      }),
    );
  });

  test('no secret is left outside the marks', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), text, (secrets, content) => {
        const pieces = createRedaction(secrets).text(content.toWellFormed()).split(REDACTED);
        for (const piece of pieces) for (const value of secrets) expect(piece.includes(value)).toBe(false);
      }),
    );
  });

  test('text without a secret is untouched', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (content) => {
        expect(createRedaction(['\u0001never-here\u0001']).text(content)).toBe(content.toWellFormed());
      }),
    );
  });
});
