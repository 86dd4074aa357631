import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, expect, test } from 'vitest';
import { dockerSandboxes } from './docker.ts';
import { findEndpoint } from './endpoint.ts';
import { EngineClient, EngineRefusal } from './engine.ts';
import { demultiplexer } from './multiplex.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'proctor-engine-'));
const servers: Server[] = [];
const clients: EngineClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  for (const server of servers.splice(0)) {
    server.close();
    if (server instanceof http.Server) server.closeAllConnections();
  }
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('an engine that is not there, one that refuses and one that goes away in mid-answer are told apart', async () => {
  const absent = client('unix:///nonexistent/docker.sock');
  await expect(absent.call('GET', '/info')).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringContaining('docker not reachable at unix:///nonexistent/docker.sock'),
    details: { reason: 'ENOENT' },
  });
  const refused = await listen(http.createServer((request, response) => answer(request, response)));
  await expect(client(refused).call('GET', '/refused')).rejects.toBeInstanceOf(EngineRefusal);
  await expect(client(refused).call('GET', '/refused')).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    status: 409,
    message: expect.stringContaining('not now'),
  });
  await expect(client(refused).call('GET', '/half')).rejects.toMatchObject({ code: 'sandbox_lost' });
  await expect(client(refused).call('POST', '/hang-up')).rejects.toMatchObject({ code: 'sandbox_lost' });
});

test('the version is the lower of both, and an engine that is too old is told so', async () => {
  const asked: string[] = [];
  const version = (theirs: string) => async () => {
    const address = await listen(
      http.createServer((request, response) => {
        asked.push(request.url ?? '');
        response.setHeader('api-version', theirs).end('{}');
      }),
    );
    await client(address).call('GET', '/info');
  };
  await version('1.43')();
  await version('1.99')();
  expect(asked.filter((url) => url.endsWith('/info'))).toEqual(['/v1.43/info', '/v1.48/info']);
  await expect(version('1.30')()).rejects.toThrow(/1\.41 or later.*found 1\.30/);
});

test('what is no engine is told apart from one', async () => {
  const address = await listen(http.createServer((_request, response) => response.end('<html>')));
  await expect(client(address).call('GET', '/info')).rejects.toThrow(/expected a Docker engine/);
  const silent = await listen(createServer((socket) => socket.destroy()));
  await expect(client(silent).call('GET', '/info')).rejects.toMatchObject({ code: 'sandbox_lost' });
});

test('a question asked on a kept connection that was closed meanwhile is asked again', async () => {
  let asked = 0;
  const address = await listen(
    http.createServer((request, response) => {
      if (request.url?.endsWith('/again')) {
        asked += 1;
        if (asked === 1) return request.socket.destroy();
      }
      response.setHeader('api-version', '1.45').end('{}');
    }),
  );
  const own = client(address);
  await own.call('GET', '/info');
  expect((await own.call('GET', '/again')).status).toBe(200);
  expect(asked).toBe(2);
});

test('a call that hangs has an end', async () => {
  const address = await listen(
    http.createServer((request, response) => (request.url === '/_ping' ? answer(request, response) : undefined)),
  );
  await expect(client(address).call('GET', '/hang', { timeLimitMs: 200 })).rejects.toMatchObject({
    code: 'sandbox_lost',
    message: expect.stringContaining('200 ms'),
  });
});

test('an engine behind TLS takes our certificate and shows its own', async (context) => {
  try {
    execFileSync('openssl', ['version']);
  } catch {
    context.skip('no openssl to make certificates with');
  }
  const certificates = path.join(directory, 'tls');
  const ssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' });
  execFileSync('mkdir', ['-p', certificates]);
  ssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'tls/key.pem',
    '-out',
    'tls/cert.pem',
    '-days',
    '1',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
  );
  execFileSync('cp', [path.join(certificates, 'cert.pem'), path.join(certificates, 'ca.pem')]);
  const files = { key: readFileSync(path.join(certificates, 'key.pem')), cert: readFileSync(path.join(certificates, 'cert.pem')) };
  const server = https.createServer({ ...files, ca: files.cert, requestCert: true, rejectUnauthorized: true }, answer);
  servers.push(server as unknown as Server);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const host = `tcp://localhost:${(server.address() as AddressInfo).port}`;
  const trusted = own({ DOCKER_HOST: host, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certificates });
  expect((await trusted.call('GET', '/info')).status).toBe(200);
  const stranger = own({ DOCKER_HOST: host, DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: directory });
  await expect(stranger.call('GET', '/info')).rejects.toThrow(/self-signed/);
  server.closeAllConnections();
});

test('an engine behind ssh works like one that is here, exec included', async (context) => {
  const provider = dockerSandboxes({ environment: process.env, directory });
  const reason = await provider.unusable();
  if (reason !== null) return context.skip(reason);
  const ssh = path.join(directory, 'ssh');
  // What sshd does with the words after the host; the program behind it finds the engine that is there.
  writeFileSync(ssh, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\nunset DOCKER_HOST\nexec "$@"\n');
  chmodSync(ssh, 0o755);
  const environment = { ...process.env, DOCKER_HOST: 'ssh://box', PATH: `${directory}:${process.env.PATH}` };
  await using far = dockerSandboxes({ environment, directory });
  expect(await far.unusable()).toBeNull();
  const labels = { store: `ssh-${process.pid}`, owner: 'ssh', session: 's', expiresAt: '2030-01-01T00:00:00Z' };
  const lease = await far.open({
    image: { kind: 'reference', reference: 'proctor-base:12' },
    prepared: null,
    workdir: null,
    env: {},
    user: null,
    cpus: null,
    memoryMb: null,
    storageMb: null,
    gpus: null,
    pids: null,
    network: { mode: 'none', hosts: [] },
    mounts: [],
    labels,
  });
  let output = '';
  const exit = await lease.sandbox.exec(['sh', '-c', 'cat; exit 5'], {
    stdin: Buffer.from('through'),
    stdout: (chunk) => (output += Buffer.from(chunk).toString()),
  });
  expect([exit, output]).toEqual([{ kind: 'exited', code: 5 }, 'through']);
  await lease[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

test('frames are taken apart wherever the chunks are cut', () => {
  const frame = (stream: number, text: string) => Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, text.length]), Buffer.from(text)]);
  const bytes = Buffer.concat([frame(1, 'one'), frame(2, 'two'), frame(1, ''), frame(1, 'three')]);
  for (let size = 1; size <= bytes.length; size += 1) {
    const seen = { out: '', err: '' };
    const take = demultiplexer(
      (chunk) => (seen.out += Buffer.from(chunk).toString()),
      (chunk) => (seen.err += Buffer.from(chunk).toString()),
    );
    for (let at = 0; at < bytes.length; at += size) take(bytes.subarray(at, at + size));
    expect(seen).toEqual({ out: 'onethree', err: 'two' });
  }
});

test('what keeps docker from being used is one sentence with its remedy', async () => {
  await using absent = dockerSandboxes({ environment: { DOCKER_HOST: 'unix:///nonexistent/docker.sock' }, directory });
  expect(await absent.unusable()).toMatch(
    /^docker not reachable at unix:\/\/\/nonexistent\/docker\.sock: .*: start it with .*--sandbox local$/,
  );
  await using wrong = dockerSandboxes({ environment: { DOCKER_HOST: 'nonsense' }, directory });
  expect(await wrong.unusable()).toContain('correct DOCKER_HOST');
});

function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  response.setHeader('api-version', '1.45');
  if (request.url?.endsWith('/refused')) response.writeHead(409, { 'content-type': 'application/json' }).end('{"message":"not now"}');
  else if (request.url?.endsWith('/half'))
    response.writeHead(200, { 'content-length': '100' }).write('half', () => request.socket.destroy());
  else if (request.url?.endsWith('/hang-up')) request.socket.destroy();
  else response.end('{}');
}

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function client(host: string): EngineClient {
  return own({ DOCKER_HOST: host });
}

function own(environment: Record<string, string>): EngineClient {
  const made = new EngineClient(findEndpoint({ HOME: directory, ...environment }), environment);
  clients.push(made);
  return made;
}
