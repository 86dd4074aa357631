import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { z } from 'zod';
import { shownAddress } from '../../domain/shown-address.ts';
import { ask, type Finding, missing, ok, warning } from './finding.ts';
import { installLine } from './host.ts';
import { diskFinding } from './store.ts';

export type DockerFacts = { findings: Finding[]; isPodman: boolean; cgroup: string | null };

/** The engine that the docker program uses, and what building images needs. */
export async function dockerFacts(environment: NodeJS.ProcessEnv): Promise<DockerFacts> {
  const version = await ask('docker', 'version', '--format', '{{json .}}');
  if (version.kind === 'absent') {
    const socket = socketPath(environment);
    const fix = process.platform === 'darwin' ? 'brew install --cask docker' : installLine('docker.io');
    const value =
      socket === null
        ? 'not installed: tasks with an image need it'
        : `no docker program, though ${socket} is there: building images needs it`;
    return { findings: [missing('docker', value, fix)], isPodman: false, cgroup: null };
  }
  const client = version.kind === 'ran' ? parsed(VersionSchema, version.stdout) : null;
  const server = client?.Server ?? null;
  if (server === null)
    return {
      findings: [unreachable(version.kind === 'ran' ? version.stderr : 'no answer within 10 s', environment)],
      isPodman: false,
      cgroup: null,
    };
  const [info, buildx, context] = await Promise.all([
    ask('docker', 'info', '--format', '{{json .}}'),
    ask('docker', 'buildx', 'version'),
    ask('docker', 'context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'),
  ]);
  const endpoint = context.kind === 'ran' && context.code === 0 ? shownAddress(context.stdout.trim()) : 'its endpoint';
  const engine = info.kind === 'ran' ? parsed(InfoSchema, info.stdout) : null;
  const isPodman = /podman/i.test(`${server.Platform?.Name ?? ''} ${(server.Components ?? []).map((one) => one.Name).join(' ')}`);
  const buildxVersion = buildx.kind === 'ran' && buildx.code === 0 ? /v?(\d+\.\d+[\w.+-]*)/.exec(buildx.stdout)?.[1] : undefined;
  return {
    isPodman,
    cgroup: engine?.CgroupVersion ?? null,
    findings: [
      ok(
        'docker',
        [`${isPodman ? 'Podman' : 'engine'} ${server.Version} at ${endpoint}`, ...clientText(client?.Client ?? null)].join(', '),
      ),
      ...(engine === null ? [] : engineFindings(engine)),
      buildxVersion === undefined
        ? warning('buildx', 'not installed: images are built by the older builder', installLine('docker-buildx'))
        : ok('buildx', buildxVersion),
    ],
  };
}

function clientText(client: { Version?: string | undefined; Context?: string | undefined } | null): string[] {
  return [
    ...(client?.Version === undefined ? [] : [`client ${client.Version}`]),
    ...(client?.Context === undefined ? [] : [`context ${client.Context}`]),
  ];
}

function engineFindings(engine: z.infer<typeof InfoSchema>): Finding[] {
  const memory = `${(engine.MemTotal / 1024 ** 3).toFixed(1)} GiB`;
  const host = [engine.OperatingSystem, `${engine.NCPU} cpus`, memory, engine.Driver, `cgroup v${engine.CgroupVersion ?? '?'}`];
  return [
    ok('docker host', host.join(', ')),
    ...(existsSync(engine.DockerRootDir) ? [diskFinding('docker disk', engine.DockerRootDir, 'docker system prune')] : []),
  ];
}

function unreachable(said: string, environment: NodeJS.ProcessEnv): Finding {
  const first = said.trim().split('\n')[0] ?? '';
  const socket = socketPath(environment);
  if (/permission denied/i.test(said) || (socket !== null && !canWrite(socket))) {
    return missing('docker', `no permission for ${socket ?? 'its socket'}`, 'sudo usermod -aG docker $USER  # then log in again');
  }
  const host = environment.DOCKER_HOST;
  if (host !== undefined && host !== '')
    return missing('docker', `DOCKER_HOST=${shownAddress(host)} does not answer: ${first}`, 'unset DOCKER_HOST  # or start that engine');
  return missing(
    'docker',
    `installed, and its engine does not answer: ${first}`,
    process.platform === 'darwin' ? 'open -a Docker' : 'sudo systemctl start docker',
  );
}

function socketPath(environment: NodeJS.ProcessEnv): string | null {
  const host = environment.DOCKER_HOST ?? '';
  if (host.startsWith('unix://')) return host.slice('unix://'.length);
  return ['/var/run/docker.sock', `${homedir()}/.docker/run/docker.sock`].find((path) => existsSync(path)) ?? null;
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function parsed<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

const VersionSchema = z.object({
  Client: z.object({ Version: z.string().optional(), Context: z.string().optional() }).nullish(),
  Server: z
    .object({
      Version: z.string(),
      Platform: z.object({ Name: z.string() }).nullish(),
      Components: z.array(z.object({ Name: z.string() })).nullish(),
    })
    .nullish(),
});
const InfoSchema = z.object({
  OperatingSystem: z.string(),
  NCPU: z.number(),
  MemTotal: z.number(),
  Driver: z.string(),
  CgroupVersion: z.string().optional(),
  DockerRootDir: z.string(),
});
