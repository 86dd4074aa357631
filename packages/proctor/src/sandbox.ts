import type { HostNetwork } from './domain/host-network.ts';
import type { Healthcheck, ImageIntent, NetworkMode } from './domain/task.ts';

/**
 * Contract: a sandbox is a live isolated filesystem and its processes. It must not decide anything: no retry, no verdict, no policy. A fact
 * that could not be found out is its own variant, never an empty list. Nothing it returns may come from words in a program's output.
 */
export interface Sandbox {
  /** Runs one program, never through a shell of ours, and resolves when it and its streams have ended, or its limit has passed and its tree is gone. */
  exec(argv: readonly string[], options: ExecOptions): Promise<Exit>;
  /** Extracts a tar at an existing absolute directory. Entries replace what they name: a file entry where a directory is removes that directory first. */
  upload(tar: AsyncIterable<Uint8Array> | Uint8Array, path: string): Promise<void>;
  /** A tar of `path`, entry names relative to its parent; null when there is no such path. Links are entries, never followed below `path`. */
  download(path: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Where `path` really is once every link is followed, without running a program inside; null = no such path. */
  realPath(path: string): Promise<string | null>;
  /** How processes inside see an absolute sandbox path: itself, except where plain processes run without a root of their own. */
  inside(path: string): string;
}

export type ExecOptions = {
  user?: string | number | null;
  cwd?: string | null;
  /** Added to the sandbox's own environment. */
  env?: Readonly<Record<string, string>>;
  /** Bytes for stdin; 'closed' (default) gives an immediate end of file; a source is written as it comes, and ends when the source ends. */
  stdin?: 'closed' | Uint8Array | AsyncIterable<Uint8Array>;
  tty?: { columns: number; rows: number };
  /** Wall clock in milliseconds; null = none. When it passes, the exec's own process tree (by descent, not by group) is killed inside. */
  timeLimitMs?: number | null;
  stdout?: (chunk: Uint8Array) => void;
  stderr?: (chunk: Uint8Array) => void;
  signal?: AbortSignal;
};

export type Exit =
  | { kind: 'exited'; code: number }
  | { kind: 'signalled'; signal: string }
  | { kind: 'timed_out' }
  /** The signal of the options fired; the tree was killed. */
  | { kind: 'aborted' }
  /** argv[0] could not be started (not found, not executable, no such cwd or user). */
  | { kind: 'not_started'; reason: string }
  /** Engine or connection gone: never an agent's failure. */
  | { kind: 'lost'; cause: string };

export type LeftProcess = { pid: number; parent: number; argv: string; user: string; listening: number[]; startedAt: number | null };

/**
 * Contract: a lease is a sandbox, its services and its life, held by the engine alone. Disposing it removes everything it made and does not
 * throw. An optional method that is absent is a capability `off`, refused by name at admission.
 */
export interface SandboxLease extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly facts: SandboxFacts;
  /** Resolves when the sandbox is gone without having been disposed (engine stopped, container killed); never rejects. */
  readonly lost: Promise<string>;
  /** Remembers what runs now: later `left()` leaves out these processes and their descendants. Right before the agent phase. */
  mark(): Promise<void>;
  /** Processes alive (no zombies) that started after the mark and are not PID 1 or ours. Rejects when it cannot be found out. */
  left(): Promise<LeftProcess[]>;
  signal(left: readonly LeftProcess[], action: 'kill' | 'stop' | 'continue'): Promise<void>;
  /** Whether the engine ended something in here for want of memory since the sandbox began: its word, not a program's. */
  outOfMemory?(): boolean;
  /** Paths changed below `path` since the sandbox began, sandbox-absolute, sorted; null = this sandbox cannot tell. */
  changes?(): Promise<Change[] | null>;
  /** Bytes that a file had when the sandbox began; null = it did not exist or was no regular file, or is larger than `maxBytes`. */
  original?(path: string, maxBytes: number): Promise<Uint8Array | null>;
  /** What a directory held when the sandbox began, as a tar of paths relative to it; null = there was none. */
  originalTree?(path: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Keeps the filesystem under `key` for later sandboxes, see `SandboxProvider.kept`. */
  keepAs?(key: string): Promise<PreparedImage>;
  /** The filesystem as it is now (declared volumes and tmpfs included); `missing` = paths that could not be copied. */
  snapshot?(): Promise<Snapshot>;
  /** Freezes every process of the sandbox until disposed. */
  pause?(): Promise<AsyncDisposable>;
  /** A fresh sandbox on a snapshot, without processes of the old one. */
  openVerifier?(from: Snapshot): Promise<SandboxLease>;
  /** Interactive attach for `proctor shell`: argv that a terminal can run on the host. */
  shellArgv?(command: readonly string[]): string[];
}

export type Change = { path: string; kind: 'added' | 'modified' | 'deleted' };

export interface Snapshot extends AsyncDisposable {
  readonly id: string;
  readonly missing: readonly string[];
}

/** What was really made, recorded in `environment.provisioned`. */
export type SandboxFacts = {
  provider: string;
  isolation: 'container' | 'namespaces' | 'none';
  /** Engine's id of the image that runs; null where there is no image. */
  imageId: string | null;
  /** `repository@sha256:…` when the registry gave one. */
  imageDigest: string | null;
  platform: string | null;
  workdir: string;
  network: { mode: NetworkMode; enforced: boolean };
  /** Limits asked for and not enforced, e.g. `storage_mb`. */
  notEnforced: string[];
  engine: string | null;
};

export type SandboxSpec = {
  image: ImageIntent | null;
  /** From `prepare`; providers without images ignore it. */
  prepared: PreparedImage | null;
  workdir: string | null;
  env: Readonly<Record<string, string>>;
  user: string | number | null;
  cpus: number | null;
  memoryMb: number | null;
  storageMb: number | null;
  gpus: number | null;
  pids: number | null;
  network: { mode: NetworkMode; hosts: readonly string[] };
  mounts: readonly { path: string; source: string; readOnly: true }[];
  labels: SandboxLabels;
};

/** On everything a provider makes. `owner` = boot id, pid and start time of this process. */
export type SandboxLabels = { store: string; owner: string; session: string; expiresAt: string };

export type PreparedImage = {
  /** What the provider runs. */
  id: string;
  digest: string | null;
  platform: string | null;
  /** True when this call built it. */
  built: boolean;
  workdir: string | null;
  env: Readonly<Record<string, string>>;
  user: string | null;
  /** What the image starts by itself; absent where the provider has to look. */
  entrypoint?: readonly string[];
  durationMs: number;
  log: string;
};

export interface SandboxProvider {
  /** A sentence for a person when this host cannot use it, with the line that fixes it; null = usable. */
  unusable(): Promise<string | null>;
  /** What this provider can enforce, for admission and `doctor`. Only after `unusable()` gave null. */
  abilities(): Promise<SandboxAbilities>;
  /** Pull or build, once per digest, under a lock shared by every process of this host. Errors: image_build_failed, image_unavailable. */
  prepare?(image: ImageIntent, options: PrepareOptions): Promise<PreparedImage>;
  /** The filesystem kept under `key` by `keepAs`, usable as `SandboxSpec.prepared`; null = none. */
  kept?(key: string): Promise<PreparedImage | null>;
  open(spec: SandboxSpec, signal?: AbortSignal): Promise<SandboxLease>;
  /** Everything on this host that carries our labels. */
  owned(): Promise<OwnedThing[]>;
  remove(things: readonly OwnedThing[]): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a provider is made from. */
export type ProviderOptions = {
  /** The host's environment variables: where an engine is, where programs are. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Absolute host directory for what must lie on disk meanwhile; made when first needed. */
  directory: string;
};

export type PrepareOptions = {
  labels: SandboxLabels;
  timeLimitMs: number;
  noBuild: boolean;
  onLog?: (line: string) => void;
  signal?: AbortSignal;
};

export type SandboxAbilities = {
  isolation: SandboxFacts['isolation'];
  images: boolean;
  networks: NetworkMode[];
  /** Which limits are enforced: cpus, memory, storage, gpus, pids, users. */
  enforces: ReadonlySet<'cpus' | 'memory' | 'storage' | 'gpus' | 'gpu_types' | 'pids' | 'users'>;
  snapshots: boolean;
  concurrency: number | null;
  engine: string;
  /** What of the host's proxies and certificates works in a sandbox with the network `public`; absent = nothing of them enters. */
  hostNetwork?: HostNetwork;
  notes: string[];
};

export type OwnedThing = {
  kind: 'container' | 'network' | 'volume' | 'image' | 'folder';
  id: string;
  labels: SandboxLabels;
  bytes: number | null;
  createdAt: string | null;
};

export type { Healthcheck };
