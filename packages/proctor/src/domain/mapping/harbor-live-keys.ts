import { fail, finiteNumber, oneOf, text } from './lax-values.ts';
import type { Read, TableReader } from './table-reader.ts';

/** What `[verifier]` of the minimal form says, in Harbor's form too. */
export type LiveVerifier = {
  command: string[] | null;
  reward_format: RewardFormatName;
  reward_range: [number, number];
  pass_threshold: number;
  reward_key: string | null;
  /** Null = the default of the form. */
  live_processes: 'keep' | 'kill' | null;
};

export const REWARD_FORMAT_NAMES = ['reward_file', 'reward_text', 'reward_json', 'exit_code'] as const;
export type RewardFormatName = (typeof REWARD_FORMAT_NAMES)[number];

export function readLiveVerifier(reader: TableReader, hasTestScript: boolean): LiveVerifier {
  const range = reader.take<[number, number]>('reward_range', rewardRange, [0, 1], 'not written');
  return {
    command: readCommand(reader, hasTestScript),
    reward_format: reader.take('reward_format', oneOf(...REWARD_FORMAT_NAMES), 'reward_file', 'not written: reward.json, else reward.txt'),
    reward_range: range,
    pass_threshold: reader.take('pass_threshold', thresholdIn(range), range[1], 'not written: the maximum of reward_range'),
    reward_key: reader.take<string | null>('reward_key', rewardKey, null),
    live_processes: reader.has('live_processes') ? (reader.written('live_processes', oneOf('keep', 'kill')) ?? null) : null,
  };
}

function readCommand(reader: TableReader, hasTestScript: boolean): string[] | null {
  if (!reader.has('command')) return null;
  if (typeof reader.raw('command') === 'string' && hasTestScript) {
    reader.ignore('command', 'a string is no argv, and tests/test.sh is there: that one runs, as in Harbor');
    reader.log.warn(reader.at('command'), 'ignored: a string is no argv, and tests/test.sh runs', {
      hint: 'Write an array to run it instead',
    });
    return null;
  }
  return reader.written('command', commandArgv) ?? null;
}

const commandArgv: Read<string[]> = (cell) => {
  const items = cell.value;
  if (!Array.isArray(items))
    return fail(cell, 'an array of 1 to 64 strings', 'A command is never a shell string: write ["bash", "-c", "…"]');
  if (items.length < 1 || items.length > 64) return fail(cell, 'an array of 1 to 64 strings');
  const argv = items.flatMap((value: unknown, index) => {
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value).length : 0;
    if (typeof value === 'string' && bytes >= 1 && bytes <= 4096 && !value.includes('\0')) return [value];
    fail({ ...cell, value, path: `${cell.path}[${index}]` }, 'a string of 1 to 4,096 bytes without NUL');
    return [];
  });
  return argv.length === items.length ? argv : undefined;
};

const rewardRange: Read<[number, number]> = (cell) => {
  if (!Array.isArray(cell.value) || cell.value.length !== 2) return fail(cell, 'two numbers, [minimum, maximum]');
  const [minimum, maximum]: unknown[] = cell.value;
  if (typeof minimum !== 'number' || typeof maximum !== 'number' || !Number.isFinite(minimum) || !Number.isFinite(maximum)) {
    return fail(cell, 'two finite numbers, [minimum, maximum]');
  }
  return minimum < maximum ? [minimum, maximum] : fail(cell, 'a minimum below the maximum');
};

function thresholdIn(range: readonly [number, number]): Read<number> {
  return (cell) => {
    const value = finiteNumber(cell, 'a number');
    if (value === undefined) return undefined;
    return value >= range[0] && value <= range[1] ? value : fail(cell, `a number in reward_range, ${range[0]} to ${range[1]}`);
  };
}

const rewardKey: Read<string> = (cell) => (cell.value === '' ? fail(cell, 'the name of a reward') : text(cell));

/** A whole number 1–20; text that is a number is none. */
export const maxIterations: Read<number> = (cell) => {
  const value = cell.value;
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 20
    ? value
    : fail(cell, 'a whole number from 1 to 20');
};

export const taskTitle: Read<string> = (cell) => {
  if (typeof cell.value !== 'string') return fail(cell, 'a string');
  const isName =
    cell.value.trim() === cell.value && cell.value !== '' && cell.value.length <= 255 && !/[\u0000-\u001f\u007f]/.test(cell.value);
  return isName ? cell.value : fail(cell, 'a name of 1 to 255 characters without control characters or outer spaces');
};

/** `image` is `docker_image` by another name; two different values are an error. */
export function readImageAlias(reader: TableReader, dockerImage: string | null): string | null {
  if (!reader.has('image')) return dockerImage;
  const image = reader.written('image', text) ?? null;
  if (image !== null && dockerImage !== null && image !== dockerImage) {
    reader.log.error(reader.at('image'), 'image and docker_image name two images', {
      expected: 'one of the two keys, or one value',
      found: `"${image}" and "${dockerImage}"`,
    });
  }
  return image ?? dockerImage;
}
