/**
 * One entry of an allow-list in its normal form, or null when it is none: a host name, `*.suffix`, an IPv4 or IPv6 address, or a CIDR block
 * without host bits. Lower case, no outer whitespace or trailing dots, addresses compressed.
 */
export function normalizeAllowedHost(entry: string): string | null {
  const host = entry.trim().toLowerCase().replace(/\.+$/, '');
  if (host.includes('/')) return normalizeBlock(host);
  if (host.includes(':')) {
    const groups = parseIpv6(host);
    return groups === null ? null : formatIpv6(groups);
  }
  if (host.startsWith('*.')) {
    const suffix = host.slice(2);
    return isHostname(suffix) && parseIpv4(suffix) === null ? host : null;
  }
  return isHostname(host) ? host : null;
}

function isHostname(host: string): boolean {
  return host.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}

function normalizeBlock(block: string): string | null {
  const [address, suffix, rest] = block.split('/');
  if (address === undefined || suffix === undefined || rest !== undefined) return null;
  const groups = parseIpv6(address);
  const bytes = parseIpv4(address);
  const bits = groups?.flatMap((group) => [group >> 8, group & 255]) ?? bytes;
  if (bits === null) return null;
  const prefix = parsePrefix(suffix, bits.length * 8);
  if (prefix === null || hasHostBits(bits, prefix)) return null;
  return `${groups === null ? address : formatIpv6(groups)}/${prefix}`;
}

function parsePrefix(text: string, width: number): number | null {
  if (/^\d{1,3}$/.test(text)) return Number(text) <= width ? Number(text) : null;
  const mask = width === 32 ? parseIpv4(text) : null;
  if (mask === null) return null;
  const binary = mask.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(binary) ? binary.replaceAll('0', '').length : null;
}

function hasHostBits(bytes: readonly number[], prefix: number): boolean {
  return bytes.some((byte, index) => (byte & (255 >> Math.min(8, Math.max(0, prefix - index * 8)))) !== 0);
}

function parseIpv4(text: string): number[] | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null;
  return parts.map(Number);
}

function parseIpv6(text: string): number[] | null {
  const halves = text.split('::');
  if (!text.includes(':') || halves.length > 2) return null;
  const parsed = halves.map((half, index) => parseGroups(half, index === halves.length - 1));
  const [head, tail] = parsed;
  if (head === null || head === undefined || tail === null) return null;
  if (tail === undefined) return head.length === 8 ? head : null;
  const missing = 8 - head.length - tail.length;
  return missing >= 1 ? [...head, ...Array.from({ length: missing }, () => 0), ...tail] : null;
}

function parseGroups(text: string, isLast: boolean): number[] | null {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const dotted = isLast && index === parts.length - 1 && part.includes('.') ? parseIpv4(part) : null;
    if (dotted !== null) groups.push(((dotted[0] ?? 0) << 8) | (dotted[1] ?? 0), ((dotted[2] ?? 0) << 8) | (dotted[3] ?? 0));
    else if (/^[0-9a-f]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return null;
  }
  return groups;
}

function formatIpv6(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  if (best.start === -1) return text.join(':');
  return `${text.slice(0, best.start).join(':')}::${text.slice(best.start + best.length).join(':')}`;
}
