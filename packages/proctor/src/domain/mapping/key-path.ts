/** `environment.cpus`, `steps[0].name`, `metadata."a b"`: how issues, accounts and positions name a key. */
export function childPath(parent: string, key: string): string {
  const name = isBareKey(key) ? key : JSON.stringify(key);
  return parent === '' ? name : `${parent}.${name}`;
}

function isBareKey(key: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(key);
}

export function itemPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}

/** True when `path` is `ancestor` or lies below it. */
export function isAtOrBelow(path: string, ancestor: string): boolean {
  if (ancestor === '' || path === ancestor) return true;
  return path.startsWith(ancestor) && (path[ancestor.length] === '.' || path[ancestor.length] === '[');
}
