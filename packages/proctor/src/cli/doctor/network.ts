import { existsSync } from 'node:fs';
import { withoutSecret } from './docker.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Proxies and certificate bundles that programs here will use. They are told, never judged. */
export function networkFindings(environment: NodeJS.ProcessEnv): Finding[] {
  const proxies = PROXIES.flatMap((name) => named(environment, name).map((value) => ok(name, withoutSecret(value))));
  const bundles = BUNDLES.flatMap((name) => named(environment, name).map((value) => bundleFinding(name, value)));
  return [
    ...(proxies.length === 0 ? [ok('proxies', 'none set')] : proxies),
    ...(bundles.length === 0 ? [ok('certificates', "the system's own")] : bundles),
  ];
}

function bundleFinding(name: string, value: string): Finding {
  return existsSync(value) ? ok(name, value) : warning(name, `${value} does not exist`, `unset ${name}`);
}

function named(environment: NodeJS.ProcessEnv, name: string): string[] {
  const value = environment[name];
  return value === undefined || value === '' ? [] : [value];
}

const PROXIES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy', 'NO_PROXY', 'no_proxy'];
const BUNDLES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'];
