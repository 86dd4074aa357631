import { normalizeAllowedHost } from './allowed-host.ts';
import { arrayOf, fail, laxBoolean, oneOf } from './lax-values.ts';
import type { Read, TableReader } from './table-reader.ts';

export const NETWORK_MODES = ['public', 'no-network', 'allowlist'] as const;
export type HarborNetworkMode = (typeof NETWORK_MODES)[number];

const networkMode = oneOf(...NETWORK_MODES);

const allowedHost: Read<string> = (cell) => {
  const host = typeof cell.value === 'string' ? normalizeAllowedHost(cell.value) : null;
  return host ?? fail(cell, 'a host name, *.suffix, an IP address or a CIDR block without host bits; no scheme, port or path');
};
const allowedHosts = arrayOf(allowedHost, 'an array of hosts');

export type HarborPhaseNetwork = { network_mode: HarborNetworkMode | null; allowed_hosts: string[] | null };

/** `network_mode` and `allowed_hosts` of a phase: hosts, even none, need the mode beside them. */
export function readPhaseNetwork(reader: TableReader): HarborPhaseNetwork {
  const mode = reader.take<HarborNetworkMode | null>('network_mode', networkMode, null);
  const hosts = reader.take<string[] | null>('allowed_hosts', allowedHosts, null);
  if (hosts !== null && mode !== 'allowlist' && (hosts.length > 0 || mode === null)) complain(reader, mode);
  return { network_mode: mode, allowed_hosts: hosts };
}

/** The baseline of an `[environment]`, the deprecated `allow_internet` included. */
export function readBaselineNetwork(reader: TableReader): HarborPhaseNetwork & { network_mode: HarborNetworkMode; is_explicit: boolean } {
  const hosts = reader.take<string[] | null>('allowed_hosts', allowedHosts, null);
  const legacy = readAllowInternet(reader, hosts);
  const mode = reader.has('network_mode')
    ? reader.written('network_mode', networkMode)
    : (legacy ?? reader.take<HarborNetworkMode>('network_mode', networkMode, 'public', "not written: the format's default"));
  if (hosts !== null && hosts.length > 0 && mode !== 'allowlist') complain(reader, mode ?? null);
  return { network_mode: mode ?? 'public', allowed_hosts: hosts, is_explicit: reader.has('network_mode') || legacy !== null };
}

/** Null = it is not written, or something outranks it. */
function readAllowInternet(reader: TableReader, hosts: readonly string[] | null): HarborNetworkMode | null {
  if (!reader.has('allow_internet')) return null;
  const outranked = reader.has('network_mode') ? 'network_mode' : hosts !== null && hosts.length > 0 ? 'allowed_hosts' : null;
  if (outranked !== null) {
    reader.ignore('allow_internet', `deprecated, and ${outranked} outranks it`);
    return null;
  }
  const allowed = reader.written('allow_internet', laxBoolean);
  return allowed === undefined ? null : allowed ? 'public' : 'no-network';
}

function complain(reader: TableReader, mode: HarborNetworkMode | null): void {
  reader.log.error(reader.at('allowed_hosts'), 'hosts are allowed without an allow-list', {
    expected: 'network_mode = "allowlist" beside allowed_hosts',
    found: mode === null ? 'no network_mode' : `network_mode = "${mode}"`,
  });
}
