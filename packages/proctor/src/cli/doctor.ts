import type { Capability } from '../api/operations.ts';
import { AppError } from '../domain/errors.ts';
import { terminalLine } from '../domain/terminal-text.ts';
import { aligned } from './columns.ts';
import type { Call } from './command.ts';
import { dockerFacts } from './doctor/docker.ts';
import type { Finding } from './doctor/finding.ts';
import { cgroupVersion, hostFindings, libc } from './doctor/host.ts';
import { networkFindings } from './doctor/network.ts';
import { storeFindings } from './doctor/store.ts';
import { withClient } from './open.ts';
import { packageVersion } from './package-version.ts';
import { tell } from './tell.ts';

/** `proctor doctor`: facts, what is missing with the line that mends it, and every capability. */
export async function run(call: Call): Promise<number> {
  const store = storeFindings(call.home);
  const isBroken = store.some((one) => one.state === 'missing');
  const [host, docker, capabilities] = await Promise.all([
    hostFindings(),
    dockerFacts(process.env),
    isBroken ? { problem: `the store ${call.home} cannot be written` } : capabilitiesOf(call),
  ]);
  const findings = [...host, ...docker.findings, ...store, ...networkFindings(process.env)];
  const known = 'list' in capabilities ? capabilities.list : [];
  const usable = known.some((one) => one.name.startsWith('sandbox_') && one.state === 'on');
  const problem =
    'problem' in capabilities
      ? capabilities.problem
      : usable
        ? null
        : 'no sandbox is usable: mend docker, or user namespaces and bubblewrap';
  const report = {
    schema: 'proctor.doctor/1',
    version: packageVersion(),
    store: call.home,
    ready: problem === null,
    problem,
    findings,
    capabilities: known,
    not_run_here: untested({
      isPodman: docker.isPodman,
      cgroups: [cgroupVersion(), docker.cgroup === null ? null : Number(docker.cgroup)],
    }),
  };
  tell(call, report, () => text(report, call));
  return report.ready ? 0 : 2;
}

/** The store may be what is broken: then the doctor still has much to say. */
async function capabilitiesOf(call: Call): Promise<{ list: Capability[] } | { problem: string }> {
  try {
    const list = await withClient(call, (client) => client.call('capabilities.list', {}));
    return { list };
  } catch (error) {
    if (error instanceof AppError) return { problem: error.message };
    throw error;
  }
}

/** What is true of this machine and was never part of this build's own tests. */
function untested({ isPodman, cgroups }: { isPodman: boolean; cgroups: readonly (number | null)[] }): string[] {
  return [
    process.platform === 'linux' ? null : `${process.platform}: the tests of this build run on Linux`,
    process.arch === 'x64' ? null : `${process.arch}: the tests of this build run on x64`,
    libc() === 'musl' ? 'musl: the tests of this build run on glibc' : null,
    isPodman ? 'Podman: the tests of this build run on Docker' : null,
    cgroups.includes(2) ? 'cgroup v2: the tests of this build run on cgroup v1' : null,
  ].filter((one) => one !== null);
}

type Doctor = { version: string; problem: string | null; findings: Finding[]; capabilities: Capability[]; not_run_here: string[] };

function text(report: Doctor, { terminal: { paint } }: Call): string {
  const marks = { ok: paint.green('✓'), missing: paint.red('✗'), warning: paint.yellow('!'), unknown: paint.dim('?') };
  const findings = report.findings.map((one) => [marks[one.state], one.name, terminalLine(one.value)]);
  const fixes = report.findings.filter((one) => one.fix !== null).map((one) => [one.name, paint.cyan(one.fix ?? '')]);
  const states = { on: paint.green('on'), off: paint.yellow('off'), absent: paint.dim('absent') };
  const capabilities = report.capabilities.map((one) => [states[one.state], one.name, paint.dim(terminalLine(one.reason ?? ''))]);
  return [
    `${paint.bold(`proctor ${report.version}`)}\n${aligned(findings, '  ')}`,
    fixes.length === 0 ? '' : `\n${paint.bold('To mend')}\n${aligned(fixes, '  ')}`,
    report.not_run_here.length === 0
      ? ''
      : `\n${paint.bold('Never tested like this')}\n${report.not_run_here.map((one) => `  ${one}\n`).join('')}`,
    capabilities.length === 0 ? '' : `\n${paint.bold('Capabilities')}\n${aligned(capabilities, '  ')}`,
    report.problem === null
      ? `\n${paint.green('Tasks can run here.')}\n`
      : `\n${paint.red('Tasks cannot run here:')} ${terminalLine(report.problem)}\n`,
  ].join('');
}
