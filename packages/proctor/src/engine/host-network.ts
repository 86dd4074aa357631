import { messageOf } from '../domain/errors.ts';
import { below, certificateVariables, proxyVariables } from '../domain/host-network.ts';
import type { SandboxAbilities, SandboxSpec } from '../sandbox.ts';
import type { TarEntry } from '../system/tar.ts';
import { certificateEntries, type HostCertificates } from './host-certificates.ts';

/** Where certificates of the host lie in a sandbox. */
const PLACE = '/run/proctor';

export type HostNetworkGrant = {
  /** The sandbox's own variables, and below them what it gets of the host. */
  env: Record<string, string>;
  /** Files that the variables name: mounted where the sandbox can have files of this host, else uploaded at `/`. */
  mounts: SandboxSpec['mounts'];
  entries: TarEntry[];
  /** What is left out, and why. */
  notes: string[];
};

/** The host's proxies and certificates for a sandbox with the network `public`; one without network gets none. */
export async function grantHostNetwork(
  host: { environment: Readonly<Record<string, string | undefined>>; certificates: HostCertificates },
  abilities: SandboxAbilities,
  sandbox: { network: { mode: string }; env: Readonly<Record<string, string>> },
): Promise<HostNetworkGrant> {
  const { hostNetwork } = abilities;
  if (hostNetwork === undefined || sandbox.network.mode !== 'public')
    return { env: { ...sandbox.env }, mounts: [], entries: [], notes: [] };
  const proxies = proxyVariables(host.environment, hostNetwork);
  const notes = [...proxies.notes];
  const variables: Record<string, string> = {};
  const mounts = new Map<string, SandboxSpec['mounts'][number]>();
  const entries = new Map<string, TarEntry[]>();
  for (const { name, paths } of certificateVariables(host.environment)) {
    try {
      const inside: string[] = [];
      for (const source of paths) {
        const found = await host.certificates.read(source);
        if (isShared(source, hostNetwork.directories) && isShared(found.real, hostNetwork.directories)) {
          inside.push(source);
          continue;
        }
        const path = `${PLACE}/${found.name}`;
        inside.push(path);
        if (hostNetwork.mounts) mounts.set(path, { path, source: await host.certificates.copyOf(found), readOnly: true });
        else entries.set(path, certificateEntries(found, path));
      }
      variables[name] = inside.join(':');
    } catch (error) {
      notes.push(`${name} of this host is left out of sandboxes: ${messageOf(error)}`);
    }
  }
  const directory: TarEntry[] = entries.size === 0 ? [] : [{ path: PLACE.slice(1), type: 'directory', mode: 0o755 }];
  return {
    env: below(sandbox.env, { ...proxies.env, ...variables }),
    mounts: [...mounts.values()],
    entries: [...directory, ...[...entries.values()].flat()],
    notes,
  };
}

function isShared(file: string, directories: readonly string[]): boolean {
  return directories.some((directory) => directory === '/' || file.startsWith(`${directory}/`));
}
