import http from 'node:http';
import process from 'node:process';

/**
 * The least that one trial costs on this engine, with nothing but node:http: create, start, exec the agent, put the tests, exec the verifier,
 * get its logs, remove. Nothing is checked beyond what the next call needs, nothing is recorded. Milliseconds.
 */
export async function floorTrial(image: string, network: 'bridge' | 'none' = 'bridge'): Promise<number> {
  const startedAt = performance.now();
  const created = await call('POST', '/containers/create', {
    Image: image,
    Entrypoint: ['cat'],
    Cmd: [],
    OpenStdin: true,
    WorkingDir: '/app',
    HostConfig: { NetworkMode: network, LogConfig: { Type: 'none' } },
  });
  const { Id: id } = JSON.parse(created);
  try {
    await call('POST', `/containers/${id}/start`);
    await exec(id, ['sh', '-c', 'echo hello > /app/hello.txt']);
    await call('PUT', `/containers/${id}/archive?path=/`, TESTS);
    await exec(id, ['bash', '/tests/test.sh']);
    const logs = await call('GET', `/containers/${id}/archive?path=/logs/verifier`);
    if (!logs.includes('reward.txt')) throw new Error('the floor left no reward');
  } finally {
    await call('DELETE', `/containers/${id}?force=1&v=1`);
  }
  return performance.now() - startedAt;
}

async function exec(container: string, argv: string[]): Promise<void> {
  const { Id: id } = JSON.parse(await call('POST', `/containers/${container}/exec`, { Cmd: argv, AttachStdout: true, AttachStderr: true }));
  await call('POST', `/exec/${id}/start`, { Detach: false, Tty: false });
}

const agent = new http.Agent({ keepAlive: true });
const socketPath = process.env.DOCKER_HOST?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock';

function call(method: string, path: string, body?: Buffer | object): Promise<string> {
  const payload = body === undefined ? undefined : body instanceof Buffer ? body : JSON.stringify(body);
  const headers = payload === undefined ? {} : { 'content-type': body instanceof Buffer ? 'application/x-tar' : 'application/json' };
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath, agent, method, path: `/v1.41${path}`, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('latin1');
        if ((response.statusCode ?? 0) >= 400) reject(new Error(`${method} ${path}: ${text}`));
        else resolve(text);
      });
    });
    request.on('error', reject);
    request.end(payload);
  });
}

/** A tar by hand: one header block and the padded content for each entry, two empty blocks at the end. */
function tar(entries: { name: string; content: string | null }[]): Buffer {
  const blocks = entries.flatMap(({ name, content }) => {
    const bytes = Buffer.from(content ?? '');
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000755\0', 100);
    header.write('0000000\0', 108);
    header.write('0000000\0', 116);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0', 136);
    header.write(' '.repeat(8), 148);
    header.write(content === null ? '5' : '0', 156);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const TESTS = tar([
  { name: 'logs/', content: null },
  { name: 'logs/verifier/', content: null },
  { name: 'tests/', content: null },
  {
    name: 'tests/test.sh',
    content:
      '#!/bin/bash\nif [ "$(cat /app/hello.txt)" = hello ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n',
  },
]);

if (import.meta.main) {
  const image = process.argv[2] ?? 'proctor-base:12';
  const trials = Number(process.argv[3] ?? 8);
  await floorTrial(image);
  for (const concurrency of [1, 4]) {
    const times: number[] = [];
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        for (let index = 0; index < trials / concurrency; index += 1) times.push(await floorTrial(image));
      }),
    );
    const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
    const perTrial = (performance.now() - startedAt) / times.length;
    console.log(`${image} at ${concurrency}: median ${median.toFixed(0)} ms per trial, one done every ${perTrial.toFixed(0)} ms`);
  }
  agent.destroy();
}
