import { createHash, randomBytes } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { agentKind } from './agents/index.ts';
import { resolveAgent } from './agents/resolve-agent.ts';
import type { Client } from './api/client.ts';
import type { Hash } from './domain/canonical-json.ts';
import { AppError } from './domain/errors.ts';
import { makeReport, type ReportInput } from './domain/report.ts';
import { REWARD_FORMATS } from './domain/reward-formats/index.ts';
import { seededRandom } from './domain/statistics-random.ts';
import type { SessionSummary } from './domain/summary.ts';
import { createProviderChoice } from './engine/choose-provider.ts';
import { HostCertificates } from './engine/host-certificates.ts';
import { type Janitor, startJanitor } from './engine/janitor.ts';
import type { EngineParts } from './engine/parts.ts';
import { type Swept, sweep } from './engine/recovery.ts';
import { Sessions } from './engine/sessions.ts';
import { createCapabilities } from './operations/capabilities.ts';
import { createOperations } from './operations/index.ts';
import { REPORT_FORMATS } from './report-formats/index.ts';
import type { SandboxProvider } from './sandbox.ts';
import { SANDBOXES } from './sandboxes/index.ts';
import { STORES } from './stores/index.ts';
import { keepFiles, keptFilesFolder } from './system/kept-files.ts';
import { isAlive, ownerText, ownProcess, parseOwner } from './system/processes.ts';

export type Config = {
  /** Directory of the store. */
  home: string;
  /** Relative agent paths are below it. */
  directory: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Starts this program as a janitor; empty = none is started. */
  janitorArgv: readonly string[];
};

export type Composed = {
  client: Client;
  engine: EngineParts;
  /** Ends what dead owners left and starts the janitor for what we will make. Before the first Session of a command that runs any. */
  beginRunning(): Promise<Swept>;
  close(): Promise<void>;
};

/** Configuration in, parts out: the only place that constructs. */
export async function compose(config: Config): Promise<Composed> {
  const { environment, home } = config;
  const switchedOff = (environment.PROCTOR_CAPABILITIES_OFF ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if ((environment.PROCTOR_RETENTION ?? 'standard') !== 'standard') {
    throw new AppError(
      'capability_not_enabled',
      `PROCTOR_RETENTION=${environment.PROCTOR_RETENTION}: a Workspace that keeps no content is refused until it is built (capability zero_retention), never run as standard`,
      { details: { capability: 'zero_retention' } },
    );
  }
  const owner = ownerText(ownProcess());
  const store = await STORES.sqlite({ home });
  const makers: Record<string, () => SandboxProvider> = {};
  for (const [name, make] of Object.entries(SANDBOXES)) makers[name] = () => make({ environment, directory: path.join(home, 'sandboxes') });
  const providers = createProviderChoice(makers, new Set(switchedOff));
  const engine: EngineParts = {
    store,
    provider: (spec) => providers.choose(spec),
    usableProviders: () => providers.usable(),
    allProviders: () => providers.all(),
    unusableProviders: () => providers.unusable(),
    agentKind: (kind) => {
      const found = agentKind(kind);
      if (found === undefined)
        throw new AppError('invalid_configuration', `this build has no agent of kind ${kind}: list them with proctor agents kinds`);
      return found;
    },
    rewardFormat: (name) => (Object.hasOwn(REWARD_FORMATS, name) ? (REWARD_FORMATS[name as keyof typeof REWARD_FORMATS] ?? null) : null),
    agentFiles: (digest) => keptFilesFolder(home, digest),
    hostEnvironment: environment,
    hostCertificates: new HostCertificates(path.join(home, 'mounts')),
    hash: sha256,
    clock: { now: () => new Date(), elapsed: () => performance.now() },
    newId: (prefix) => `${prefix}_${base32(randomBytes(10))}`,
    owner,
    ownerIsAlive: (text) => {
      const parsed = parseOwner(text);
      return parsed !== null && isAlive(parsed);
    },
    author: `local:${os.userInfo().uid}`,
    diskWatermarkBytes: watermark(environment.PROCTOR_DISK_WATERMARK_MB),
    mountsDirectory: path.join(home, 'mounts'),
    renderReport: (format, title, summary) =>
      REPORT_FORMATS[format].render(makeReport(ofOneSession(title, summary), { random: seededRandom(1) }), {
        color: false,
        columns: 100,
        timeZone: 'utc',
      }),
    host: { cpus: os.availableParallelism(), memoryMb: Math.floor(os.totalmem() / 1_048_576) },
  };
  const sessions = new Sessions(engine);
  const client = createOperations({
    store,
    engine,
    sessions,
    capabilities: createCapabilities(switchedOff),
    resolveAgent: (from, environmentNames) =>
      resolveAgent(from, {
        directory: config.directory,
        environmentNames,
        keepFiles: (files, options) => keepFiles(home, files, options),
        filesFor: (digest) => keptFilesFolder(home, digest),
      }),
  });
  let janitor: Janitor | null = null;
  return {
    client,
    engine,
    beginRunning: async () => {
      if (janitor === null && config.janitorArgv.length > 0) janitor = startJanitor([...config.janitorArgv, home, owner], process.env);
      return sweep(engine);
    },
    close: async () => {
      await sessions.closeAll();
      await providers.close();
      await store[Symbol.asyncDispose]();
      janitor?.dismiss();
    },
  };
}

function ofOneSession(title: string, summary: SessionSummary): ReportInput {
  return {
    title,
    experiment: summary.experiment,
    generated_at: new Date().toISOString(),
    sessions: [summary],
    refused: [],
    planned_trials: null,
    accept_retries: false,
    interrupted: false,
  };
}

/** MiB; 512 unless set. Errors: invalid_configuration. */
function watermark(text: string | undefined): number {
  const megabytes = text === undefined ? 512 : Number(text);
  if (!Number.isFinite(megabytes) || megabytes < 0)
    throw new AppError('invalid_configuration', `PROCTOR_DISK_WATERMARK_MB: expected a number of MiB, found ${JSON.stringify(text)}`);
  return megabytes * 1_048_576;
}

export const sha256: Hash = (content) => createHash('sha256').update(content).digest('hex');

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

function base32(bytes: Uint8Array): string {
  let bits = 0;
  let value = 0;
  let text = '';
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET[(value >>> (bits - 5)) & 31];
    value &= (1 << bits) - 1;
  }
  return text;
}
