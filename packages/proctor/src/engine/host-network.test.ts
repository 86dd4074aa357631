import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { SandboxAbilities } from '../sandbox.ts';
import { HostCertificates } from './host-certificates.ts';
import { grantHostNetwork } from './host-network.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'proctor-certificates-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const bundle = path.join(directory, 'corp.pem');
writeFileSync(bundle, 'certificate\n', { mode: 0o600 });
const folder = path.join(directory, 'certs');
mkdirSync(folder);
symlinkSync('../corp.pem', path.join(folder, '0a1b2c3d.0'));
symlinkSync('../nowhere', path.join(folder, 'gone.0'));

const grant = (environment: Record<string, string>, able: Parameters<typeof abilities>[0] = {}, mode = 'public') =>
  grantHostNetwork({ environment, certificates: new HostCertificates(path.join(directory, 'mounts')) }, abilities(able), {
    network: { mode },
    env: { TASK: '1' },
  });

test('certificates that are the host’s own inside keep their path', async () => {
  const granted = await grant({ SSL_CERT_FILE: bundle }, { directories: [directory] });
  expect(granted).toEqual({ env: { TASK: '1', SSL_CERT_FILE: bundle }, mounts: [], entries: [], notes: [] });
});

test('others are mounted as copies that every user may read, links as what they lead to, and equal ones once', async () => {
  const host = { NODE_EXTRA_CA_CERTS: bundle, CURL_CA_BUNDLE: bundle, SSL_CERT_DIR: `${folder}:${directory}/certs` };
  const { env, mounts, entries, notes } = await grant(host, { mounts: true });
  expect([entries, notes]).toEqual([[], []]);
  expect(mounts).toHaveLength(2);
  const [dir, file] = mounts;
  expect(env).toEqual({
    TASK: '1',
    NODE_EXTRA_CA_CERTS: file?.path,
    CURL_CA_BUNDLE: file?.path,
    SSL_CERT_DIR: `${dir?.path}:${dir?.path}`,
  });
  expect(file?.path).toMatch(/^\/run\/proctor\/certificates-[0-9a-f]{24}\.pem$/);
  expect(statSync(file?.source ?? '').mode & 0o777).toBe(0o444);
  expect(readdirSync(dir?.source ?? '')).toEqual(['0a1b2c3d.0']);
  expect(readFileSync(path.join(dir?.source ?? '', '0a1b2c3d.0'), 'utf8')).toBe('certificate\n');
  expect(readdirSync(path.join(directory, 'mounts'))).toHaveLength(2);
});

test('where nothing of this host can be mounted they are uploaded', async () => {
  const { env, mounts, entries } = await grant({ NODE_EXTRA_CA_CERTS: bundle, SSL_CERT_DIR: folder });
  expect(mounts).toEqual([]);
  expect(entries.map(({ path, type }) => `${type} /${path}`)).toEqual([
    'directory /run/proctor',
    `directory ${env.SSL_CERT_DIR}`,
    `file ${env.SSL_CERT_DIR}/0a1b2c3d.0`,
    `file ${env.NODE_EXTRA_CA_CERTS}`,
  ]);
  for (const entry of entries)
    if (entry.type === 'file') expect(entry).toMatchObject({ mode: 0o644, content: Buffer.from('certificate\n') });
});

test('a file that is not there is left out and named', async () => {
  const { env, notes } = await grant({ CURL_CA_BUNDLE: path.join(directory, 'missing.pem') });
  expect(env).toEqual({ TASK: '1' });
  expect(notes).toEqual([expect.stringMatching(/^CURL_CA_BUNDLE of this host is left out of sandboxes: .*missing\.pem/)]);
});

test('a sandbox without network gets nothing of the host', async () => {
  const granted = await grant({ HTTP_PROXY: 'http://127.0.0.1:3128', SSL_CERT_FILE: bundle }, {}, 'none');
  expect(granted).toEqual({ env: { TASK: '1' }, mounts: [], entries: [], notes: [] });
});

function abilities(able: { directories?: string[]; mounts?: boolean }): SandboxAbilities {
  return {
    isolation: 'container',
    images: true,
    networks: ['none', 'public'],
    enforces: new Set(),
    snapshots: true,
    concurrency: null,
    engine: 'test',
    hostNetwork: { loopback: false, directories: [], mounts: false, configured: {}, ...able },
    notes: [],
  };
}
