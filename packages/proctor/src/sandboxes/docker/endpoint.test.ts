import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { registryOf } from './credentials.ts';
import { findEndpoint } from './endpoint.ts';

const home = mkdtempSync(path.join(tmpdir(), 'proctor-endpoint-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

function write(file: string, content: unknown): void {
  mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
  writeFileSync(path.join(home, file), typeof content === 'string' ? content : JSON.stringify(content));
}

test.for([
  ['unix:///run/x.sock', { kind: 'unix', path: '/run/x.sock' }],
  ['tcp://10.0.0.1:2375', { kind: 'tcp', host: '10.0.0.1', port: 2375, tls: null }],
  ['tcp://[::1]:99', { kind: 'tcp', host: '::1', port: 99, tls: null }],
  ['tcp://box', { kind: 'tcp', host: 'box', port: 2375, tls: null }],
] as const)('DOCKER_HOST=%s is followed', ([host, to]) => {
  expect(findEndpoint({ DOCKER_HOST: host, HOME: home })).toMatchObject({ shown: host, to });
});

test('an engine behind ssh is reached through the docker program there', () => {
  const { to } = findEndpoint({ DOCKER_HOST: 'ssh://me@box:2222/run/user/1000/docker.sock', HOME: home });
  expect(to.kind === 'ssh' && to.args.join(' ')).toBe(
    '-l me -p 2222 -T -o ConnectTimeout=30 -o BatchMode=yes -- box docker --host unix:///run/user/1000/docker.sock system dial-stdio',
  );
});

test('a host name is never taken for an option of ssh', () => {
  const { to } = findEndpoint({ DOCKER_HOST: 'ssh://-oProxyCommand=x', HOME: home });
  expect(to.kind === 'ssh' && to.args.slice(to.args.indexOf('--'), 7)).toEqual(['--', '-oProxyCommand=x']);
});

test('TLS files are read from DOCKER_CERT_PATH', () => {
  for (const name of ['ca', 'cert', 'key']) write(`certs/${name}.pem`, `the ${name}`);
  const environment = { DOCKER_HOST: 'tcp://box:2376', DOCKER_CERT_PATH: path.join(home, 'certs'), HOME: home };
  expect(findEndpoint({ ...environment, DOCKER_TLS_VERIFY: '1' }).to).toEqual({
    kind: 'tcp',
    host: 'box',
    port: 2376,
    tls: { ca: 'the ca', cert: 'the cert', key: 'the key', verify: true },
  });
  expect(findEndpoint(environment).to).toMatchObject({ tls: null });
});

test('the configured context is followed, DOCKER_CONTEXT before it and DOCKER_HOST before both', () => {
  const id = createHash('sha256').update('far').digest('hex');
  write('.docker/config.json', { currentContext: 'far' });
  write(`.docker/contexts/meta/${id}/meta.json`, { Name: 'far', Endpoints: { docker: { Host: 'tcp://far:2376', SkipTLSVerify: true } } });
  write(`.docker/contexts/tls/${id}/docker/ca.pem`, 'far ca');
  expect(findEndpoint({ HOME: home })).toMatchObject({
    shown: 'tcp://far:2376',
    to: { kind: 'tcp', host: 'far', port: 2376, tls: { ca: 'far ca', verify: false } },
    programEnvironment: { DOCKER_CONTEXT: 'far' },
  });
  expect(findEndpoint({ HOME: home, DOCKER_CONTEXT: 'default' }).to.kind).toBe('unix');
  expect(findEndpoint({ HOME: home, DOCKER_HOST: 'unix:///x' }).shown).toBe('unix:///x');
  expect(() => findEndpoint({ HOME: home, DOCKER_CONTEXT: 'none' })).toThrow(/docker context "none"/);
});

test('a password in the address is in no message', () => {
  const { shown, to } = findEndpoint({ DOCKER_HOST: 'tcp://jo:secret@box:2375', HOME: home });
  expect([shown, to]).toEqual(['tcp://***@box:2375', { kind: 'tcp', host: 'box', port: 2375, tls: null }]);
  expect(() => findEndpoint({ DOCKER_HOST: 'ftp://jo:secret@box', HOME: home })).toThrow(/found "ftp:\/\/\*\*\*@box"/);
});

test('an address of another kind is refused by what was expected', () => {
  expect(() => findEndpoint({ DOCKER_HOST: 'npipe:////./pipe/docker', HOME: home })).toThrow(/expected an engine address/);
});

test.for([
  ['ubuntu', 'docker.io'],
  ['me/x:1', 'docker.io'],
  ['localhost/x', 'localhost'],
  ['localhost:5000/x', 'localhost:5000'],
  ['ghcr.io/a/b@sha256:00', 'ghcr.io'],
])('%s is of the registry %s', ([reference, registry]) => {
  expect(registryOf(reference!)).toBe(registry);
});
