import { spawn } from 'node:child_process';
import { z } from 'zod';
import { AppError, messageOf } from '../../domain/errors.ts';
import { configurationDirectory, readConfiguration } from './endpoint.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The value of `X-Registry-Auth` for a pull from that registry, by what `docker login` left; null = none is known. */
export async function registryCredentials(environment: Environment, registry: string): Promise<string | null> {
  const configuration = readConfiguration(configurationDirectory(environment));
  const key = registry === HUB ? HUB_KEY : registry;
  const helper = configuration.credHelpers?.[key] ?? configuration.credHelpers?.[registry] ?? configuration.credsStore;
  if (helper !== undefined && helper !== '') {
    const found = await askHelper(helper, key, environment);
    if (found !== null)
      return encode(
        found.Username === '<token>' ? { identitytoken: found.Secret } : { username: found.Username, password: found.Secret },
        key,
      );
  }
  const entry = Object.entries(configuration.auths ?? {}).find(([name]) => name === key || hostOf(name) === registry)?.[1];
  if (entry === undefined) return null;
  if (entry.identitytoken !== undefined && entry.identitytoken !== '') return encode({ identitytoken: entry.identitytoken }, key);
  const [username, ...password] = Buffer.from(entry.auth ?? '', 'base64')
    .toString('utf8')
    .split(':');
  return username === undefined || username === '' ? null : encode({ username, password: password.join(':') }, key);
}

/** The registry a reference names: its first part where that can be a host, else Docker Hub. */
export function registryOf(reference: string): string {
  const first = reference.split('/')[0] ?? '';
  const isHost = reference.includes('/') && (/[.:]/.test(first) || first === 'localhost');
  return !isHost || first === 'index.docker.io' ? HUB : first;
}

const HUB = 'docker.io';
const HUB_KEY = 'https://index.docker.io/v1/';
const HELPER_LIMIT_MS = 30_000;
const HelperAnswerSchema = z.looseObject({ Username: z.string(), Secret: z.string() });

function hostOf(name: string): string {
  return name.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
}

function encode(credentials: Record<string, string>, serveraddress: string): string {
  // The engine wants the URL alphabet with its padding, which Node leaves out.
  return Buffer.from(JSON.stringify({ ...credentials, serveraddress }))
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}

/** `docker-credential-<name> get`: the registry on stdin, JSON on stdout. A helper that knows nothing ends with 1. */
async function askHelper(name: string, registry: string, environment: Environment): Promise<z.infer<typeof HelperAnswerSchema> | null> {
  const program = `docker-credential-${name}`;
  const output = await new Promise<string | null>((resolve, reject) => {
    const child = spawn(program, ['get'], { env: { ...environment }, stdio: ['pipe', 'pipe', 'ignore'], timeout: HELPER_LIMIT_MS });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    child.stdin.on('error', () => undefined);
    child.on('error', (error) =>
      reject(
        new AppError(
          'invalid_configuration',
          `expected the credential program ${program} that ~/.docker/config.json names, found none (${messageOf(error)}): install it or run \`docker login\` again`,
          { cause: error },
        ),
      ),
    );
    child.on('close', (code) => resolve(code === 0 ? text : null));
    child.stdin.end(registry);
  });
  if (output === null) return null;
  try {
    return HelperAnswerSchema.parse(JSON.parse(output));
  } catch {
    return null;
  }
}
