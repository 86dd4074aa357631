export const PROXY_VARIABLES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy', 'NO_PROXY', 'no_proxy'];
export const CERTIFICATE_VARIABLES = [
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
];

type Variables = Readonly<Record<string, string | undefined>>;

/** How a sandbox with the network `public` stands to the host's proxies and certificates. */
export type HostNetwork = {
  /** A loopback address of the host is the host's inside too. */
  loopback: boolean;
  /** Directories that are the host's own inside. */
  directories: readonly string[];
  /** Other files of this host can be mounted. */
  mounts: boolean;
  /** What the engine's own client is configured to set in every sandbox; it outranks the host's variables. */
  configured: Readonly<Record<string, string>>;
};

/** Proxy variables for a sandbox, and a sentence for each that cannot work there. */
export function proxyVariables(
  environment: Variables,
  network: Pick<HostNetwork, 'loopback' | 'configured'>,
): { env: Record<string, string>; notes: string[] } {
  const env: Record<string, string> = {};
  const unreachable: string[] = [];
  for (const [name, value] of given(environment, PROXY_VARIABLES)) {
    if (Object.hasOwn(network.configured, name)) continue;
    if (!network.loopback && !/^no_proxy$/i.test(name) && isLoopback(value)) unreachable.push(name);
    else env[name] = value;
  }
  const notes = unreachable.map(
    (name) =>
      `${name} names a proxy on this host's loopback address, which a container cannot reach: left out; name an address of this host's network, or set proxies in the docker client's config.json`,
  );
  return { env: { ...env, ...network.configured }, notes };
}

/** Certificate files and directories that the host's variables name. */
export function certificateVariables(environment: Variables): { name: string; paths: string[] }[] {
  return given(environment, CERTIFICATE_VARIABLES).map(([name, value]) => ({
    name,
    paths: name === 'SSL_CERT_DIR' ? value.split(':').filter((path) => path !== '') : [value],
  }));
}

/** What must be in no log: passwords of proxies as written, as decoded, and as a header would carry them with their user. */
export function proxySecrets(environment: Variables): string[] {
  const secrets = given(environment, [...PROXY_VARIABLES, 'FTP_PROXY', 'ftp_proxy']).flatMap(([name, value]) =>
    /^no_proxy$/i.test(name) ? [] : credentialsOf(value),
  );
  return [...new Set(secrets)];
}

/** A variable that `own` sets in either spelling is left to it: most programs would ask for the other spelling first. */
export function below(own: Readonly<Record<string, string>>, variables: Readonly<Record<string, string>>): Record<string, string> {
  const taken = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  return { ...Object.fromEntries(Object.entries(variables).filter(([name]) => !taken.has(name.toLowerCase()))), ...own };
}

function given(environment: Variables, names: readonly string[]): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const value = environment[name];
    return value === undefined || value === '' ? [] : [[name, value]];
  });
}

/** `scheme://user:password@host:port/`, each part but the host optional. */
function partsOf(proxy: string): { user: string; password: string; host: string } {
  const authority = proxy.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/[/?#].*$/, '');
  const at = authority.lastIndexOf('@');
  const login = at === -1 ? '' : authority.slice(0, at);
  const colon = login.indexOf(':');
  const place = authority.slice(at + 1);
  return {
    user: colon === -1 ? login : login.slice(0, colon),
    password: colon === -1 ? '' : login.slice(colon + 1),
    host: (/^\[([^\]]*)\]/.exec(place)?.[1] ?? place.replace(/:\d*$/, '')).toLowerCase(),
  };
}

function isLoopback(proxy: string): boolean {
  const { host } = partsOf(proxy);
  return /^(localhost\.?|.*\.localhost\.?|127(\.\d+){0,3}|0\.0\.0\.0|::1?|(0+:){7}0*1|::ffff:127\..*)$/.test(host);
}

function credentialsOf(proxy: string): string[] {
  const { user, password } = partsOf(proxy);
  // A token may be given as the user alone.
  if (password === '') return user === '' ? [] : [user, decoded(user)];
  return [password, decoded(password), `${user}:${password}`, `${decoded(user)}:${decoded(password)}`];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
