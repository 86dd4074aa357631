import { spawn } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { BuildRequest } from './build.ts';
import { BuildKitProgress } from './buildkit-progress.ts';

/** Whether the docker program here has BuildKit. */
export async function hasBuildKit(environment: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  return await new Promise((resolve) => {
    const child = spawn('docker', ['buildx', 'version'], { env: { ...environment }, stdio: 'ignore', timeout: 20_000 });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}

/** `docker buildx build`, the reference for what a Dockerfile means. Who failed is read from BuildKit's own lines, which a step cannot write. */
export async function buildByProgram(request: BuildRequest): Promise<void> {
  const labels = Object.entries(request.labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]);
  // By name alone: values may hold a password, and a command line is for all to read. The configured ones the program adds itself.
  const proxies = Object.keys(request.proxies.ofHost).flatMap((name) => ['--build-arg', name]);
  const argv = ['buildx', 'build', '--load', '--progress', 'plain', ...labels, ...proxies, '--tag', request.tag];
  const progress = new BuildKitProgress();
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn('docker', [...argv, '--file', path.join(request.context.root, request.dockerfile), request.context.root], {
      // Its own group: a build that is given up ends whole, and BuildKit gives up the steps with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...request.environment, ...request.programEnvironment, DOCKER_CLI_HINTS: 'false', BUILDX_NO_DEFAULT_ATTESTATIONS: '1' },
    });
    const stop = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    request.signal.addEventListener('abort', stop, { once: true });
    if (request.signal.aborted) stop();
    let rest = '';
    const take = (chunk: Buffer) => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        progress.take(line);
        request.onLog(line);
      }
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (status) => {
      request.signal.removeEventListener('abort', stop);
      if (rest !== '') take(Buffer.from('\n'));
      resolve(status);
    });
  }).catch((error: unknown) => {
    throw new AppError('image_build_failed', `docker buildx could not be run: ${messageOf(error)}`, {
      cause: error,
      details: { attribution: 'infrastructure' },
    });
  });
  if (code === 0) return;
  request.signal.throwIfAborted();
  throw request.failure(progress.failure());
}
