import { stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { ResolveContext } from '../agent.ts';
import type { AgentSpec } from '../domain/agent-version.ts';
import { AppError } from '../domain/errors.ts';
import { agentKind, agents } from './index.ts';

/** `id`: the record of an Agent, to be looked up. `spec`: found or created by digest; `name` names the Agent. */
export type ResolvedAgent = { label: string | null } & ({ kind: 'id'; id: string } | { kind: 'spec'; name: string; spec: AgentSpec });

/**
 * What a person wrote after `--agent`: `[label=]value`, where value is an Agent id, the name of a kind (`oracle`, `command:./agent.sh`), a
 * directory with an agent.toml, or a module. Errors: invalid_configuration.
 */
export async function resolveAgent(text: string, context: ResolveContext): Promise<ResolvedAgent> {
  const { label, value } = splitLabel(text);
  if (value === '')
    throw new AppError(
      'invalid_configuration',
      `--agent: expected [label=]agent, found ${JSON.stringify(text)}: write for example --agent oracle`,
    );
  if (/^agent_[A-Za-z0-9]+$/.test(value)) return { label, kind: 'id', id: value };
  const { name, rest } = splitKind(value);
  const kind = agentKind(name);
  if (kind !== undefined) return { label, kind: 'spec', name: nameOf(name, rest), spec: await kind.resolve(rest, context) };
  return { label, ...(await fromPath(value, context)) };
}

/** A label is `[a-z0-9-]{1,32}` before the first `=`; anything else there is part of the value. */
export function splitLabel(text: string): { label: string | null; value: string } {
  const match = /^([a-z0-9-]{1,32})=(.*)$/s.exec(text);
  return match?.[1] === undefined ? { label: null, value: text } : { label: match[1], value: match[2] ?? '' };
}

function splitKind(value: string): { name: string; rest: string } {
  const colon = value.indexOf(':');
  return colon === -1 ? { name: value, rest: '' } : { name: value.slice(0, colon), rest: value.slice(colon + 1) };
}

async function fromPath(value: string, context: ResolveContext): Promise<{ kind: 'spec'; name: string; spec: AgentSpec }> {
  const place = path.resolve(context.directory, value.replace(/^~(?=\/|$)/, os.homedir()));
  const found = await stat(place).catch(() => null);
  if (found?.isDirectory()) return { kind: 'spec', name: nameOf('folder', place), spec: await agents.folder.resolve(place, context) };
  if (found?.isFile()) {
    if (/\.[cm]?[jt]s$/.test(place))
      return { kind: 'spec', name: nameOf('module', place), spec: await agents.module.resolve(place, context) };
    throw new AppError(
      'invalid_configuration',
      `--agent ${value}: a file is an agent as a module (.ts, .js) or as a program: write command:${value} to upload and run it`,
    );
  }
  const names = Object.keys(agents).join(', ');
  const what = /[/\\]|^[.~]/.test(value) ? `nothing at ${place}` : JSON.stringify(value);
  throw new AppError(
    'invalid_configuration',
    `--agent: expected an Agent id, one of ${names}, or the path of an agent's folder or module, found ${what}`,
  );
}

/** What the Agent's record is called: a kind without a value by itself, a file by its name, a command by its program. */
function nameOf(kind: string, rest: string): string {
  if (rest === '') return kind;
  if (rest.startsWith('[')) {
    const program = /^\[\s*"([^"\\]+)"/.exec(rest)?.[1];
    return program === undefined ? kind : slug(`${kind}-${path.basename(program)}`, kind);
  }
  const base = path.basename(path.resolve(rest));
  return slug(kind === 'folder' ? base : base.replace(/\.[^.]+$/, ''), kind);
}

/** A record's name is `[a-z0-9][a-z0-9._-]{0,63}`. */
function slug(text: string, otherwise: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64);
  return name === '' ? otherwise : name;
}
