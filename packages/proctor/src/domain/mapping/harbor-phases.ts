import { type HarborEnvironment, readEnvironment } from './harbor-environment.ts';
import { type HarborPhaseNetwork, readPhaseNetwork } from './harbor-network.ts';
import { environmentVariables, fail, oneOf, seconds, text, user } from './lax-values.ts';
import type { Read, TableReader } from './table-reader.ts';

export type HarborAgent = HarborPhaseNetwork & { timeout_sec: number | null; user: string | number | null };

export function readAgent(reader: TableReader): HarborAgent {
  const agent = {
    ...readPhaseNetwork(reader),
    timeout_sec: reader.has('timeout_sec') ? (reader.written('timeout_sec', seconds) ?? null) : null,
    user: reader.take<string | number | null>('user', user, null, "not written: the image's user"),
  };
  return agent;
}

export type HarborCollect = { command: string; service: string; timeout_sec: number; user: string | number | null };

export type HarborVerifier = HarborPhaseNetwork & {
  timeout_sec: number;
  env: Record<string, string>;
  user: string | number | null;
  environment_mode: 'shared' | 'separate' | null;
  environment: HarborEnvironment | null;
  collect: HarborCollect[];
};

export function readVerifier(reader: TableReader): HarborVerifier {
  const verifier: HarborVerifier = {
    ...readPhaseNetwork(reader),
    timeout_sec: reader.take('timeout_sec', seconds, 600),
    env: reader.take('env', environmentVariables, {}),
    user: reader.take<string | number | null>('user', user, null, "not written: the image's user"),
    environment_mode: reader.take<'shared' | 'separate' | null>('environment_mode', oneOf('shared', 'separate'), null),
    environment: reader.table<HarborEnvironment | null>('environment', readEnvironment, null),
    collect: reader.tables('collect', readCollect).filter((collect) => collect !== null),
  };
  if (verifier.environment_mode === 'shared' && reader.has('environment')) {
    reader.log.error(reader.at('environment_mode'), 'a shared verifier has no environment of its own', {
      expected: 'environment_mode = "separate", or no [verifier.environment]',
      found: '"shared"',
    });
  }
  return verifier;
}

function readCollect(reader: TableReader): HarborCollect | null {
  const command = reader.require('command', text, 'the command to run');
  const collect = {
    service: reader.take('service', serviceName, 'main'),
    timeout_sec: reader.take('timeout_sec', seconds, 60),
    user: reader.take<string | number | null>('user', user, null),
  };
  return command === undefined ? null : { command, ...collect };
}

/** A name that compose accepts for a service. */
export const serviceName: Read<string> = (cell) => {
  const value = typeof cell.value === 'string' ? cell.value.trim() : '';
  return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(value) ? value : fail(cell, 'the name of a compose service');
};
