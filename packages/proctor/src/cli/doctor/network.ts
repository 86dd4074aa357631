import { existsSync } from 'node:fs';
import { certificateVariables, PROXY_VARIABLES } from '../../domain/host-network.ts';
import { shownAddress } from '../../domain/shown-address.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Proxies and certificate bundles that programs here will use, and sandboxes with a network too. They are told, never judged. */
export function networkFindings(environment: NodeJS.ProcessEnv): Finding[] {
  const proxies = PROXY_VARIABLES.flatMap((name) => named(environment, name).map((value) => ok(name, shownAddress(value))));
  const bundles = certificateVariables(environment).map(({ name, paths }) => bundleFinding(name, paths));
  return [
    ...(proxies.length === 0 ? [ok('proxies', 'none set')] : proxies),
    ...(bundles.length === 0 ? [ok('certificates', "the system's own")] : bundles),
  ];
}

function bundleFinding(name: string, paths: readonly string[]): Finding {
  const missing = paths.find((path) => !existsSync(path));
  return missing === undefined ? ok(name, paths.join(':')) : warning(name, `${missing} does not exist`, `unset ${name}`);
}

function named(environment: NodeJS.ProcessEnv, name: string): string[] {
  const value = environment[name];
  return value === undefined || value === '' ? [] : [value];
}
