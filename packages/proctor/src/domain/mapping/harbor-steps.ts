import { type HarborArtifact, readArtifacts } from './harbor-artifacts.ts';
import { type HarborHealthcheck, readHealthcheck } from './harbor-environment.ts';
import { type HarborAgent, type HarborVerifier, readAgent, readVerifier } from './harbor-phases.ts';
import { fail, finiteNumber, recordOf } from './lax-values.ts';
import { isTable } from './plain-json.ts';
import type { Read, TableReader } from './table-reader.ts';

export type HarborStep = {
  name: string;
  agent: HarborAgent;
  verifier: HarborVerifier;
  min_reward: number | Record<string, number> | null;
  healthcheck: HarborHealthcheck | null;
  artifacts: HarborArtifact[];
};

/** `[[steps]]`, or null where there are none. */
export function readSteps(reader: TableReader): HarborStep[] | null {
  if (!reader.has('steps')) return null;
  const steps = reader.tables('steps', readStep).filter((step) => step !== null);
  const seen = new Map<string, string>();
  for (const step of steps) {
    const key = stepNameKey(step.name);
    const other = seen.get(key);
    if (other !== undefined) {
      reader.log.error(reader.at('steps'), 'two steps have one name', {
        expected: 'names that differ in more than case',
        found: `"${other}" and "${step.name}"`,
      });
    }
    seen.set(key, step.name);
  }
  return steps;
}

function readStep(reader: TableReader): HarborStep | null {
  const name = reader.require('name', stepName, 'the name of a folder below steps/');
  const step = {
    agent: reader.section('agent', readAgent),
    verifier: reader.section('verifier', readVerifier),
    min_reward: reader.take<HarborStep['min_reward']>('min_reward', minimumReward, null),
    healthcheck: reader.table<HarborHealthcheck | null>('healthcheck', readHealthcheck, null),
    artifacts: readArtifacts(reader),
  };
  return name === undefined ? null : { name, ...step };
}

const rewardThreshold: Read<number> = (cell) => finiteNumber(cell, 'a reward');
const rewardThresholds = recordOf(rewardThreshold, 'a table of rewards');
const minimumReward: Read<number | Record<string, number>> = (cell) =>
  isTable(cell.value) ? rewardThresholds(cell) : rewardThreshold(cell);

/** A folder name on every system; Harbor's rule, so that one task is valid in both. */
export const stepName: Read<string> = (cell) => {
  const value = cell.value;
  if (typeof value !== 'string') return fail(cell, 'a string');
  const isFolderName =
    value.trim() !== '' &&
    !/[<>:"/\\|?*\u0000-\u001f\u007f]/.test(value) &&
    !/[. ]$/.test(value) &&
    !/^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[1-9¹²³])[ ]*(\..*)?$/i.test(value) &&
    new TextEncoder().encode(value).length <= 255;
  return isFolderName ? value : fail(cell, 'a folder name that every system accepts, at most 255 bytes');
};

/** Two steps with one key would share a folder on some system. */
export function stepNameKey(name: string): string {
  return foldCase(foldCase(name.normalize('NFC')).normalize('NFC'));
}

function foldCase(text: string): string {
  return text.replaceAll('ẞ', 'ss').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
