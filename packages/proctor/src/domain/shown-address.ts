/** An address as a message may print it: without its login, but for the user of an `ssh:` address, who is no secret. */
export function shownAddress(address: string): string {
  const found = /^([a-z][a-z0-9+.-]*:\/\/)?([^/]*)@(.*)$/is.exec(address);
  if (found === null) return address;
  const [, scheme = '', login = '', place = ''] = found;
  if (scheme.toLowerCase() !== 'ssh://') return `${scheme}***@${place}`;
  return login.includes(':') ? `${scheme}${login.split(':')[0]}:***@${place}` : address;
}
