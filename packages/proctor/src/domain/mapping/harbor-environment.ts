import { type HarborMcpServer, readMcpServer } from './harbor-mcp.ts';
import { type HarborNetworkMode, type HarborPhaseNetwork, readBaselineNetwork } from './harbor-network.ts';
import { readSizeMb } from './harbor-sizes.ts';
import { arrayOf, environmentVariables, fail, nonEmptyText, pause, positive, seconds, text, wholeNumber } from './lax-values.ts';
import type { Read, TableReader } from './table-reader.ts';

export type HarborHealthcheck = {
  command: string;
  interval_sec: number;
  timeout_sec: number;
  start_period_sec: number;
  start_interval_sec: number;
  retries: number;
};

export type HarborEnvironment = HarborPhaseNetwork & {
  network_mode: HarborNetworkMode;
  /** True where the task itself says something about its network. */
  is_explicit: boolean;
  build_timeout_sec: number;
  docker_image: string | null;
  os: 'linux' | 'windows';
  cpus: number | null;
  memory_mb: number | null;
  storage_mb: number | null;
  gpus: number | null;
  gpu_types: string[] | null;
  tpu: { type: string; topology: string } | null;
  mcp_servers: HarborMcpServer[];
  env: Record<string, string>;
  skills_dir: string | null;
  healthcheck: HarborHealthcheck | null;
  workdir: string | null;
};

export function readEnvironment(reader: TableReader): HarborEnvironment {
  return {
    ...readBaselineNetwork(reader),
    build_timeout_sec: reader.take('build_timeout_sec', seconds, 600),
    docker_image: reader.take<string | null>('docker_image', text, null),
    os: reader.take('os', operatingSystem, 'linux'),
    cpus: reader.take<number | null>('cpus', positive('a number of CPUs'), null),
    memory_mb: readSizeMb(reader, 'memory'),
    storage_mb: readSizeMb(reader, 'storage'),
    gpus: reader.take<number | null>('gpus', wholeNumber(0, 'GPUs'), null),
    gpu_types: reader.take<string[] | null>('gpu_types', arrayOf(text, 'an array of strings'), null),
    tpu: reader.table<HarborEnvironment['tpu']>('tpu', readTpu, null),
    mcp_servers: reader.tables('mcp_servers', readMcpServer).filter((server) => server !== null),
    env: reader.take('env', environmentVariables, {}),
    skills_dir: reader.take<string | null>('skills_dir', text, null),
    healthcheck: reader.table<HarborHealthcheck | null>('healthcheck', readHealthcheck, null),
    workdir: reader.take<string | null>('workdir', text, null, "not written: the image's WORKDIR, else /app"),
  };
}

export function readHealthcheck(reader: TableReader): HarborHealthcheck | null {
  const command = reader.require('command', text, 'the command to run');
  const rest = {
    interval_sec: reader.take('interval_sec', pause, 5),
    timeout_sec: reader.take('timeout_sec', seconds, 30),
    start_period_sec: reader.take('start_period_sec', pause, 0),
    start_interval_sec: reader.take('start_interval_sec', pause, 5),
    retries: reader.take('retries', wholeNumber(0, 'retries'), 3),
  };
  return command === undefined ? null : { command, ...rest };
}

function readTpu(reader: TableReader): HarborEnvironment['tpu'] {
  const type = reader.require('type', nonEmptyText, 'the kind of TPU');
  const topology = reader.require('topology', tpuTopology, 'axes joined by x, such as 2x4');
  return type === undefined || topology === undefined ? null : { type, topology };
}

const tpuTopology: Read<string> = (cell) => {
  const value = typeof cell.value === 'string' ? cell.value.trim() : '';
  return /^0*[1-9]\d*(x0*[1-9]\d*)+$/i.test(value) ? value : fail(cell, 'axes above 0 joined by x, such as 2x4');
};

const operatingSystem: Read<'linux' | 'windows'> = (cell) => {
  const value = typeof cell.value === 'string' ? cell.value.toLowerCase() : null;
  return value === 'linux' || value === 'windows' ? value : fail(cell, '"linux" or "windows"');
};
