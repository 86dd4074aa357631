import type { AgentVersion } from '../domain/agent-version.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import { aligned, localTime, table } from './columns.ts';
import type { Call } from './command.ts';
import { withClient } from './open.ts';
import { tell } from './tell.ts';

export async function kinds(call: Call): Promise<number> {
  const { agentKinds } = await import('../compose/agent-kinds.ts');
  return tell(call, agentKinds(), (all) => aligned(all.map((one) => [call.terminal.paint.cyan(one.kind), one.summary])));
}

export async function create(call: Call): Promise<number> {
  const name = call.given.text('name');
  const made = await withClient(call, (client) =>
    client.call('agents.create', {
      from: call.words[0] ?? '',
      environment_names: call.given.list('agent-env'),
      ...(name === null ? {} : { name }),
    }),
  );
  return tell(call, made, (one) => `${one.id} version ${one.version} (${terminalLine(one.name)})\n`);
}

export async function list(call: Call): Promise<number> {
  const found = await withClient(call, (client) => client.call('agents.list', {}));
  return tell(call, found, (all) => {
    if (all.length === 0) return 'No agent yet: `proctor agents create` or any `--agent` makes one.\n';
    const rows = all.map((one) => [one.id, String(one.version), terminalLine(one.name), one.spec.kind, localTime(one.created_at)]);
    return table(['agent', 'version', 'name', 'kind', 'created'], rows, call.terminal.paint.dim);
  });
}

export async function show(call: Call): Promise<number> {
  const version = call.given.number('at');
  const found = await withClient(call, (client) =>
    client.call('agents.show', { id: call.words[0] ?? '', ...(version === null ? {} : { version }) }),
  );
  return tell(call, found, (one) => versionText(one));
}

function versionText(one: AgentVersion): string {
  return aligned([
    ['agent', one.id],
    ['version', String(one.version)],
    ['name', terminalLine(one.name)],
    ['kind', one.spec.kind],
    ['settings', terminalLine(JSON.stringify(one.spec.settings))],
    ['files', one.spec.files.length === 0 ? 'none' : one.spec.files.map((file) => terminalLine(file.path)).join(', ')],
    ['host variables', one.spec.environment_names.length === 0 ? 'none' : one.spec.environment_names.join(', ')],
    ['digest', one.digest],
    ['created', localTime(one.created_at)],
  ]);
}
