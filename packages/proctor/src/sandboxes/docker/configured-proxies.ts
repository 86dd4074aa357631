import { proxyVariables } from '../../domain/host-network.ts';
import { configurationDirectory, readConfiguration } from './endpoint.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type BuildProxies = { ofHost: Record<string, string>; configured: Record<string, string> };

/** `proxies` of the docker client's config.json, for this engine or else by default, in both spellings, as `docker run` sets them. */
export function configuredProxies(environment: Environment, endpoint: string): Record<string, string> {
  const { proxies = {} } = readConfiguration(configurationDirectory(environment));
  const found = proxies[endpoint] ?? proxies.default ?? {};
  const named = {
    HTTP_PROXY: found.httpProxy,
    HTTPS_PROXY: found.httpsProxy,
    FTP_PROXY: found.ftpProxy,
    NO_PROXY: found.noProxy,
    ALL_PROXY: found.allProxy,
  };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, value]) =>
      value === undefined || value === ''
        ? []
        : [
            [name, value],
            [name.toLowerCase(), value],
          ],
    ),
  );
}

/** A build runs where the engine is: it reaches no more of this host than a container does. */
export function buildProxies(environment: Environment, endpoint: string): BuildProxies {
  const configured = configuredProxies(environment, endpoint);
  const { env } = proxyVariables(environment, { loopback: false, configured });
  return { ofHost: Object.fromEntries(Object.entries(env).filter(([name]) => !Object.hasOwn(configured, name))), configured };
}
