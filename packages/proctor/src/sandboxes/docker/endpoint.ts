import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { AppError, messageOf } from '../../domain/errors.ts';
import { shownAddress } from '../../domain/shown-address.ts';

export type EngineEndpoint = {
  /** As configured: `unix:///var/run/docker.sock`. May hold a login: for no message. */
  host: string;
  /** As a message may print it. */
  shown: string;
  to:
    | { kind: 'unix'; path: string }
    | { kind: 'tcp'; host: string; port: number; tls: TlsFiles | null }
    | { kind: 'ssh'; program: string; args: string[] };
  /** What the docker program needs to reach the same engine. */
  programEnvironment: Record<string, string>;
};

export type TlsFiles = { ca?: string; cert?: string; key?: string; verify: boolean };

/**
 * Where the docker program would find its engine: DOCKER_HOST, else DOCKER_CONTEXT, else the configured context, else the usual sockets
 * (root's, rootless Docker's, Podman's). Errors: invalid_configuration.
 */
export function findEndpoint(environment: Readonly<Record<string, string | undefined>>): EngineEndpoint {
  const configuration = configurationDirectory(environment);
  const host = environment.DOCKER_HOST;
  if (host !== undefined && host !== '') {
    const verify = (environment.DOCKER_TLS_VERIFY ?? '') !== '';
    const tls = verify || (environment.DOCKER_TLS ?? '') !== '' ? readTls(environment.DOCKER_CERT_PATH ?? configuration, verify) : null;
    return parseHost(host, tls, {});
  }
  const named = environment.DOCKER_CONTEXT ?? readConfiguration(configuration).currentContext ?? 'default';
  if (named !== '' && named !== 'default') return fromContext(configuration, named);
  for (const socket of usualSockets(environment)) {
    if (existsSync(socket)) {
      return parseHost(`unix://${socket}`, null, socket === ROOT_SOCKET ? {} : { DOCKER_HOST: `unix://${socket}` });
    }
  }
  return parseHost(`unix://${ROOT_SOCKET}`, null, {});
}

/** `~/.docker/config.json` as far as we read it; an unreadable one counts as empty, as for the docker program. */
export function readConfiguration(directory: string): z.infer<typeof ConfigurationSchema> {
  try {
    return ConfigurationSchema.parse(JSON.parse(readFileSync(path.join(directory, 'config.json'), 'utf8')));
  } catch {
    return {};
  }
}

export function configurationDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return environment.DOCKER_CONFIG || path.join(environment.HOME ?? '/', '.docker');
}

const ROOT_SOCKET = '/var/run/docker.sock';

const ProxiesSchema = z.looseObject({
  httpProxy: z.string().optional(),
  httpsProxy: z.string().optional(),
  noProxy: z.string().optional(),
  ftpProxy: z.string().optional(),
  allProxy: z.string().optional(),
});
const ConfigurationSchema = z.looseObject({
  currentContext: z.string().optional(),
  auths: z.record(z.string(), z.looseObject({ auth: z.string().optional(), identitytoken: z.string().optional() })).optional(),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
  proxies: z.record(z.string(), ProxiesSchema).optional(),
});

const ContextSchema = z.looseObject({
  Endpoints: z.looseObject({ docker: z.looseObject({ Host: z.string(), SkipTLSVerify: z.boolean().optional() }) }),
});

function usualSockets(environment: Readonly<Record<string, string | undefined>>): string[] {
  const runtime = environment.XDG_RUNTIME_DIR;
  const home = environment.HOME;
  return [
    ROOT_SOCKET,
    ...(runtime ? [path.join(runtime, 'docker.sock')] : []),
    ...(home ? [path.join(home, '.docker/run/docker.sock'), path.join(home, '.docker/desktop/docker.sock')] : []),
    ...(runtime ? [path.join(runtime, 'podman/podman.sock')] : []),
    '/run/podman/podman.sock',
  ];
}

function fromContext(configuration: string, name: string): EngineEndpoint {
  const id = createHash('sha256').update(name).digest('hex');
  const file = path.join(configuration, 'contexts/meta', id, 'meta.json');
  let context: z.infer<typeof ContextSchema>;
  try {
    context = ContextSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new AppError(
      'invalid_configuration',
      `docker context "${name}" cannot be read (${messageOf(error)}): run \`docker context ls\`, or set DOCKER_HOST`,
      { cause: error },
    );
  }
  const directory = path.join(configuration, 'contexts/tls', id, 'docker');
  const tls = existsSync(directory) ? readTls(directory, context.Endpoints.docker.SkipTLSVerify !== true) : null;
  return parseHost(context.Endpoints.docker.Host, tls, { DOCKER_CONTEXT: name });
}

function readTls(directory: string, verify: boolean): TlsFiles {
  const read = (name: string): string | undefined => {
    const file = path.join(directory, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem'), verify };
}

function parseHost(host: string, tls: TlsFiles | null, programEnvironment: Record<string, string>): EngineEndpoint {
  const shown = shownAddress(host);
  const unix = /^unix:\/\/(\/.*)$/.exec(host)?.[1];
  if (unix !== undefined) return { host, shown, to: { kind: 'unix', path: unix }, programEnvironment };
  const url = URL.canParse(host) ? new URL(host) : null;
  const hostname = url?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (url !== null && hostname !== '' && ['tcp:', 'http:', 'https:'].includes(url.protocol)) {
    const secure = tls ?? (url.protocol === 'https:' ? { verify: true } : null);
    const port = url.port === '' ? (secure === null ? 2375 : 2376) : Number(url.port);
    return { host, shown, to: { kind: 'tcp', host: hostname, port, tls: secure }, programEnvironment };
  }
  if (url !== null && hostname !== '' && url.protocol === 'ssh:') {
    const socket = url.pathname !== '' && url.pathname !== '/' ? ['--host', `unix://${url.pathname}`] : [];
    const args = [
      ...(url.username === '' ? [] : ['-l', decodeURIComponent(url.username)]),
      ...(url.port === '' ? [] : ['-p', url.port]),
      ...['-T', '-o', 'ConnectTimeout=30', '-o', 'BatchMode=yes', '--', hostname, 'docker', ...socket, 'system', 'dial-stdio'],
    ];
    return { host, shown, to: { kind: 'ssh', program: 'ssh', args }, programEnvironment };
  }
  throw new AppError(
    'invalid_configuration',
    `expected an engine address such as unix:///var/run/docker.sock, tcp://host:2376 or ssh://user@host, found "${shown}": correct DOCKER_HOST or the docker context`,
  );
}
