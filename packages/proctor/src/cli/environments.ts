import type { EnvironmentSpec } from '../domain/environment.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import { aligned, localTime, table } from './columns.ts';
import type { Call } from './command.ts';
import { askedEnvironment } from './environment-flags.ts';
import { withClient } from './open.ts';
import { tell } from './tell.ts';

export async function create(call: Call): Promise<number> {
  const { given } = call;
  const megabytes = (name: string) => {
    const size = given.number(name);
    return size === null ? null : Math.max(1, Math.floor(size / 1024 ** 2));
  };
  const spec = {
    ...askedEnvironment(given),
    cpus: given.number('cpus'),
    memory_mb: megabytes('memory'),
    pids: given.number('pids'),
    max_cpus: given.number('max-cpus'),
    max_memory_mb: megabytes('max-memory'),
    capture_roots: given.list('capture-root'),
  };
  const made = await withClient(call, (client) => client.call('environments.create', { name: call.words[0] ?? '', spec }));
  return tell(call, made, (one) => `${one.id} version ${one.version} (${one.name})\n`);
}

export async function list(call: Call): Promise<number> {
  const found = await withClient(call, (client) => client.call('environments.list', {}));
  return tell(call, found, (all) => {
    if (all.length === 0)
      return 'No Environment yet: `proctor environments create` makes one, and every experiment makes its own from its flags.\n';
    const rows = all.map((one) => [one.id, String(one.version), terminalLine(one.name), posture(one.spec), localTime(one.created_at)]);
    return table(['environment', 'version', 'name', 'posture', 'created'], rows, call.terminal.paint.dim);
  });
}

export async function show(call: Call): Promise<number> {
  const version = call.given.number('at');
  const found = await withClient(call, (client) =>
    client.call('environments.show', { id: call.words[0] ?? '', ...(version === null ? {} : { version }) }),
  );
  return tell(call, found, (one) =>
    aligned([
      ['environment', one.id],
      ['version', String(one.version)],
      ['name', terminalLine(one.name)],
      ...Object.entries(one.spec).map(([key, value]) => [key, terminalLine(typeof value === 'string' ? value : JSON.stringify(value))]),
      ['digest', one.digest],
      ['created', localTime(one.created_at)],
    ]),
  );
}

function posture(spec: EnvironmentSpec): string {
  return [
    spec.sandbox,
    spec.isolation === 'none' ? 'no isolation' : null,
    spec.network === 'task' ? null : `network ${spec.network}`,
    spec.build ? null : 'no builds',
    spec.ignore_image ? 'ignores images' : null,
    spec.image_template === null ? null : terminalLine(spec.image_template),
  ]
    .filter((one) => one !== null)
    .join(', ');
}
