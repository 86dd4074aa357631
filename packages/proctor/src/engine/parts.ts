import type { AgentKind } from '../agent.ts';
import type { Hash } from '../domain/canonical-json.ts';
import type { EnvironmentSpec } from '../domain/environment.ts';
import type { SessionSummary } from '../domain/summary.ts';
import type { RewardFormat } from '../grader.ts';
import type { SandboxAbilities, SandboxProvider } from '../sandbox.ts';
import type { Store } from '../store.ts';
import type { HostCertificates } from './host-certificates.ts';

/** What the engine is given; it constructs none of it. */
export type EngineParts = {
  store: Store;
  /** The provider that an Environment means on this host. Errors: sandbox_unavailable, with the line that fixes it. */
  provider(environment: EnvironmentSpec): Promise<ChosenProvider>;
  /** Every provider of this host that can be used: each is tried out. */
  usableProviders(): Promise<ChosenProvider[]>;
  /** Every provider that is not switched off, without a look at whether it can be used now. */
  allProviders(): { name: string; provider: SandboxProvider }[];
  unusableProviders(): Promise<{ name: string; reason: string }[]>;
  agentKind(kind: string): AgentKind;
  rewardFormat(name: string): RewardFormat | null;
  /** Directory with the kept files of an agent, by digest. */
  agentFiles(digest: string): string;
  hostEnvironment: Readonly<Record<string, string | undefined>>;
  hostCertificates: HostCertificates;
  hash: Hash;
  clock: Clock;
  newId(prefix: string): string;
  /** Boot id, pid and start time of this process. */
  owner: string;
  ownerIsAlive(owner: string): boolean;
  /** Who posts: `local:<uid>`. */
  author: string;
  host: { cpus: number; memoryMb: number };
  /** Free space below which no sandbox is made. */
  diskWatermarkBytes: number;
  /** Where mounted blobs lie as host files. */
  mountsDirectory: string;
  renderReport(format: 'json' | 'markdown' | 'junit', title: string, summary: SessionSummary): string;
};

export type ChosenProvider = { name: string; provider: SandboxProvider; abilities: SandboxAbilities };

export type Clock = {
  /** Wall clock, for `at`. */
  now(): Date;
  /** Milliseconds that never go back, for durations. */
  elapsed(): number;
};
