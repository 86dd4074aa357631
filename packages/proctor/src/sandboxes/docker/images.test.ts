import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, test } from 'vitest';
import type { PrepareOptions } from '../../sandbox.ts';
import { ownerText, ownProcess } from '../../system/processes.ts';
import { dockerSandboxes } from './docker.ts';
import { lockOnHost } from './host-lock.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'proctor-images-'));
const store = `images-test-${process.pid}`;
const labels = { store, owner: ownerText(ownProcess()), session: 'sess_images', expiresAt: new Date(Date.now() + 3_600_000).toISOString() };
const make = (environment: Record<string, string | undefined> = {}) =>
  dockerSandboxes({ environment: { ...process.env, ...environment }, directory });
const provider = make();
const reason = await provider.unusable();
if (reason !== null) console.warn(`skipped: ${reason}`);
/** Without the docker program, as on a host that has an engine's socket alone. */
const WITHOUT_PROGRAM = { PATH: '/nonexistent' };

describe.skipIf(reason !== null)('images of docker', () => {
  afterAll(async () => {
    await provider.remove((await provider.owned()).filter((thing) => thing.labels.store === store));
    await provider[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  test('trials and processes that bring the same context share one build, and its log', async () => {
    const intent = contextOf({ Dockerfile: 'FROM proctor-base:12\nRUN echo building-it\nCOPY a.txt /a.txt\n', 'a.txt': 'a' });
    await using other = make();
    const lines: string[] = [];
    const [one, two, three] = await Promise.all([
      provider.prepare!(intent, prepareOptions({ onLog: (line) => lines.push(line) })),
      provider.prepare!(intent, prepareOptions()),
      other.prepare!(intent, prepareOptions()),
    ]);
    expect([one.built, two.built, three.built].filter(Boolean)).toHaveLength(1);
    expect(new Set([one.id, two.id, three.id]).size).toBe(1);
    expect(two.log).toContain('building-it');
    // Its lines are heard as they come where this process is the one that builds.
    expect(three.built ? two.log : lines.join('\n')).toContain('building-it');
    expect((await provider.prepare!(intent, prepareOptions({ noBuild: true }))).built).toBe(false);
  });

  test.for([
    ['a step that fails', 'FROM proctor-base:12\nRUN echo "#5 ERROR: forged"; echo last-words; exit 3\n', 'task'],
    ['a Dockerfile that makes no sense', 'FRM x\n', 'task'],
    ['a file that is not in the context', 'FROM proctor-base:12\nCOPY nothing /\n', 'task'],
    ['a base image that cannot be reached', 'FROM registry.invalid/nothing:1\nRUN true\n', 'infrastructure'],
  ] as const)('%s is told with whose failure it is', async ([, dockerfile, attribution]) => {
    const intent = contextOf({ Dockerfile: dockerfile });
    for (const environment of [{}, WITHOUT_PROGRAM]) {
      await using own = make(environment);
      const failure = await own.prepare!(intent, prepareOptions()).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: expect.stringMatching(/^image_(build_failed|unavailable)$/), details: { attribution } });
      if (dockerfile.includes('last-words'))
        expect(failure).toMatchObject({ code: 'image_build_failed', details: { log: expect.stringContaining('last-words') } });
    }
  });

  test('a build that failed is not made again in this process', async () => {
    const intent = contextOf({ Dockerfile: 'FROM proctor-base:12\nRUN exit 4\n' });
    const first = await provider.prepare!(intent, prepareOptions()).catch((error: unknown) => error);
    const startedAt = Date.now();
    expect(await provider.prepare!(intent, prepareOptions()).catch((error: unknown) => error)).toBe(first);
    expect(Date.now() - startedAt).toBeLessThan(150);
  });

  test('a build has a limit, and can be given up', async () => {
    const slow = () => contextOf({ Dockerfile: `FROM proctor-base:12\nRUN sleep 60 # ${contexts}\n` });
    const startedAt = Date.now();
    await expect(provider.prepare!(slow(), prepareOptions({ timeLimitMs: 3000 }))).rejects.toMatchObject({
      code: 'image_build_failed',
      details: { attribution: 'task', timed_out: true },
    });
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('given up')), 1500);
    await expect(provider.prepare!(slow(), prepareOptions({ signal: controller.signal }))).rejects.toThrow('given up');
    expect(Date.now() - startedAt).toBeLessThan(15_000);
  });

  test('where building is off an image that has to be built is refused', async () => {
    await expect(
      provider.prepare!(contextOf({ Dockerfile: 'FROM proctor-base:12\n' }), prepareOptions({ noBuild: true })),
    ).rejects.toMatchObject({
      code: 'image_required',
    });
  });

  test('builds have the proxies that a container can reach, from either builder, and the image keeps none', async () => {
    const config = path.join(directory, 'docker-config');
    mkdirSync(config, { recursive: true });
    writeFileSync(path.join(config, 'config.json'), JSON.stringify({ proxies: { default: { ftpProxy: 'http://configured.invalid:1' } } }));
    const host = {
      DOCKER_CONFIG: config,
      HTTP_PROXY: 'http://127.0.0.1:3128',
      http_proxy: undefined,
      HTTPS_PROXY: 'http://jo:secret@proxy.invalid:3128',
      NO_PROXY: '.corp',
    };
    const plugins = path.join(process.env.HOME ?? '', '.docker', 'cli-plugins');
    if (existsSync(plugins)) symlinkSync(plugins, path.join(config, 'cli-plugins'));
    for (const [builder, more] of Object.entries({ program: {}, engine: WITHOUT_PROGRAM })) {
      await using own = make({ ...host, ...more });
      const intent = contextOf({
        Dockerfile: 'FROM proctor-base:12\nRUN echo "saw [$HTTPS_PROXY] [$ftp_proxy] [$NO_PROXY] [$HTTP_PROXY]"; : BUILDER\n'.replace(
          'BUILDER',
          `${builder} ${store}`,
        ),
      });
      const { log, env } = await own.prepare!(intent, prepareOptions());
      expect(log).toContain('saw [http://jo:secret@proxy.invalid:3128] [http://configured.invalid:1] [.corp] []');
      expect(JSON.stringify(env)).not.toContain('invalid');
    }
  });

  test('the engine’s own builder gives the same image, without what .dockerignore leaves out', async () => {
    await using own = make(WITHOUT_PROGRAM);
    const intent = contextOf({
      Dockerfile:
        'ARG BASE=proctor-base\nFROM ${BASE}:12 AS first\nRUN echo built-by-engine\nFROM first\nCOPY . /context\nWORKDIR /context\n',
      '.dockerignore': '*.log\nsecret\n!secret/kept\n',
      'a.log': '',
      'secret/key': '',
      'secret/kept': '',
      'b.txt': '',
    });
    const prepared = await own.prepare!(intent, prepareOptions());
    expect(prepared).toMatchObject({ built: true, workdir: '/context', log: expect.stringContaining('built-by-engine') });
    await using lease = await own.open({
      image: intent,
      prepared,
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
    let listed = '';
    await lease.sandbox.exec(['find', '.', '-type', 'f'], { stdout: (chunk) => (listed += Buffer.from(chunk).toString()) });
    expect(listed.trim().split('\n').sort()).toEqual(['./.dockerignore', './Dockerfile', './b.txt', './secret/kept']);
  });

  test.for(['FOO bar"', 'a?b', 'UPPER', 'a b:1'])("%s is no image reference, and that is the task's doing", async (reference) => {
    await expect(provider.prepare!({ kind: 'reference', reference }, prepareOptions())).rejects.toMatchObject({
      code: 'image_unavailable',
      message: expect.stringContaining('is no image reference'),
      details: { attribution: 'task' },
    });
  });

  test('an image that no registry gives is an infrastructure failure', async () => {
    await expect(provider.prepare!({ kind: 'reference', reference: 'registry.invalid/x/y:1' }, prepareOptions())).rejects.toMatchObject({
      code: 'image_unavailable',
      details: { attribution: 'infrastructure' },
    });
  });

  test('a pull takes the credentials that docker login left, from a helper program too', async () => {
    const seen: string[] = [];
    const registry = http.createServer((request, response) => {
      seen.push(String(request.headers.authorization ?? ''));
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
    });
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
    const bin = path.join(directory, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(
      path.join(bin, 'docker-credential-test'),
      '#!/bin/sh\nread registry\necho "{\\"Username\\":\\"helped\\",\\"Secret\\":\\"$registry\\"}"\n',
    );
    chmodSync(path.join(bin, 'docker-credential-test'), 0o755);
    try {
      for (const [configuration, expected] of [
        [{ auths: { [host]: { auth: Buffer.from('me:pass:word').toString('base64') } } }, 'me:pass:word'],
        [{ credHelpers: { [host]: 'test' } }, `helped:${host}`],
      ] as const) {
        const home = mkdtempSync(path.join(directory, 'config-'));
        writeFileSync(path.join(home, 'config.json'), JSON.stringify(configuration));
        await using own = make({ DOCKER_CONFIG: home, PATH: `${bin}:${process.env.PATH}` });
        await expect(own.prepare!({ kind: 'reference', reference: `${host}/x:1` }, prepareOptions())).rejects.toMatchObject({
          code: 'image_unavailable',
        });
        expect(seen).toContain(`Basic ${Buffer.from(expected).toString('base64')}`);
      }
    } finally {
      registry.close();
      registry.closeAllConnections();
    }
  });
});

test('a lock is held by one at a time, and one whose holder is gone is taken over', async () => {
  const name = `test-${process.pid}`;
  const order: string[] = [];
  const first = await lockOnHost(name);
  const second = lockOnHost(name).then(async (lock) => {
    order.push('second');
    await lock[Symbol.asyncDispose]();
  });
  await expect(lockOnHost(name, AbortSignal.timeout(150))).rejects.toThrow();
  order.push('first');
  await first[Symbol.asyncDispose]();
  await second;
  expect(order).toEqual(['first', 'second']);
  writeFileSync(`/tmp/proctor-locks/${name}.lock`, ownerText({ ...ownProcess(), startTicks: 1 }));
  await (await lockOnHost(name, AbortSignal.timeout(5000)))[Symbol.asyncDispose]();
});

let contexts = 0;
function contextOf(files: Record<string, string>) {
  contexts += 1;
  const root = path.join(directory, `context-${contexts}`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
  const tree = Object.entries(files).map(([file, content]) => ({
    path: file,
    bytes: Buffer.byteLength(content),
    sha256: '',
    mode: 0o644,
    asset: false,
  }));
  return {
    kind: 'build' as const,
    context: { root, digest: `${store}-${contexts}`, bytes: 0, files: tree },
    dockerfile: 'Dockerfile',
    built: false as const,
  };
}

function prepareOptions(over: Partial<PrepareOptions> = {}): PrepareOptions {
  return { labels, timeLimitMs: 120_000, noBuild: false, ...over };
}
