import { describe, expect, test } from 'vitest';
import { below, certificateVariables, proxySecrets, proxyVariables } from './host-network.ts';
import { createRedaction } from './redaction.ts';

const container = { loopback: false, configured: {} };

describe('proxy variables', () => {
  test('those that are set are taken in both spellings, and nothing else of the host', () => {
    const environment = {
      HTTP_PROXY: 'http://proxy.corp:3128',
      https_proxy: 'proxy.corp:3128',
      NO_PROXY: 'localhost,.corp',
      ALL_PROXY: '',
      HOME: '/root',
    };
    const { env, notes } = proxyVariables(environment, container);
    expect(env).toEqual({ HTTP_PROXY: 'http://proxy.corp:3128', https_proxy: 'proxy.corp:3128', NO_PROXY: 'localhost,.corp' });
    expect(notes).toEqual([]);
  });

  test.each([
    'http://localhost:3128',
    'http://u:p@LOCALHOST:3128/',
    '127.0.0.1:8080',
    'socks5h://127.9.9.9:1080',
    'http://[::1]:3128',
    'http://me:a@b@127.0.0.1:1',
    'http://squid.localhost:3128',
  ])('%s stays out of what cannot reach the host’s loopback, with a note that names the variable and no secret', (proxy) => {
    const { env, notes } = proxyVariables({ HTTPS_PROXY: proxy }, container);
    expect(env).toEqual({});
    expect(notes).toEqual([expect.stringMatching(/^HTTPS_PROXY names a proxy on this host's loopback address/)]);
    expect(notes.join()).not.toContain('@');
    expect(proxyVariables({ HTTPS_PROXY: proxy }, { ...container, loopback: true })).toEqual({ env: { HTTPS_PROXY: proxy }, notes: [] });
  });

  test.each([
    'http://proxy.corp:3128',
    'http://10.127.0.1:3128',
    'http://localhost.corp:1',
    '[fd00::1]:3128',
    'http://127.0.0.1:x@proxy.corp',
  ])('%s is no loopback address', (proxy) => expect(proxyVariables({ http_proxy: proxy }, container).env).toEqual({ http_proxy: proxy }));

  test('what the engine’s client is configured with outranks the host’s, also where the host’s could not be reached', () => {
    const configured = { HTTP_PROXY: 'http://engine:1', http_proxy: 'http://engine:1' };
    expect(proxyVariables({ HTTP_PROXY: 'http://127.0.0.1:3128', NO_PROXY: 'a' }, { loopback: false, configured })).toEqual({
      env: { ...configured, NO_PROXY: 'a' },
      notes: [],
    });
  });

  test('a variable that the task sets is its own in either spelling', () => {
    expect(below({ http_proxy: '' }, { HTTP_PROXY: 'http://proxy.corp', NO_PROXY: 'a' })).toEqual({ http_proxy: '', NO_PROXY: 'a' });
  });
});

test('certificates are named by path, directories by several', () => {
  const environment = { SSL_CERT_FILE: '/a.pem', SSL_CERT_DIR: '/one:/two', CURL_CA_BUNDLE: '' };
  expect(certificateVariables(environment)).toEqual([
    { name: 'SSL_CERT_FILE', paths: ['/a.pem'] },
    { name: 'SSL_CERT_DIR', paths: ['/one', '/two'] },
  ]);
});

test('a proxy’s password is found as written, decoded, and as a header carries it', () => {
  const secrets = proxySecrets({
    HTTPS_PROXY: 'http://jo:s%40fe-word@proxy.corp:3128',
    NO_PROXY: 'a:b@c',
    HTTP_PROXY: 'http://ghp-token@proxy.corp',
  });
  const redaction = createRedaction(secrets);
  const header = Buffer.from('jo:s@fe-word').toString('base64');
  for (const text of ['s%40fe-word', 's@fe-word', `Basic ${header}`, 'ghp-token']) {
    expect(redaction.text(`<${text}>`)).toMatch(/^<(Basic )?\S*\[REDACTED\]=*>$/);
  }
  expect(redaction.text('http://proxy.corp:3128')).toBe('http://proxy.corp:3128');
  expect(secrets).not.toContain('jo');
});

test('a proxy without credentials hides nothing', () => {
  expect(proxySecrets({ HTTP_PROXY: 'http://proxy.corp:3128', ALL_PROXY: 'proxy:1' })).toEqual([]);
});
