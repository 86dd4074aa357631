import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Composed, compose, sha256 } from '../../src/compose.ts';
import { compileTasks } from '../../src/compositions/compile-tasks.ts';
import { type ExperimentOptions, evalExperiment } from '../../src/compositions/eval-experiment.ts';
import { EnvironmentSpecSchema } from '../../src/domain/environment.ts';
import type { EventRow } from '../../src/domain/events.ts';
import type { ReportInput } from '../../src/domain/report.ts';
import type { SessionSummary } from '../../src/domain/summary.ts';
import { formats } from '../../src/formats/index.ts';
import { SANDBOXES } from '../../src/sandboxes/index.ts';
import { sources } from '../../src/sources/index.ts';

export type TaskFiles = { toml?: string; instruction?: string; test: string; solve?: string; files?: Record<string, string> };
export type Sandbox = 'docker' | 'local';

/** A store, task folders and the real engine in a directory of its own. */
export class World {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'proctor-e2e-'));
  readonly home = path.join(this.directory, 'home');
  #composed: Composed | null = null;
  readonly #environment: Readonly<Record<string, string>>;

  /** `environment` is added to the one of this process. */
  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = environment;
  }

  async open(): Promise<Composed> {
    this.#composed ??= await compose({
      home: this.home,
      directory: this.directory,
      environment: { ...process.env, ...this.#environment },
      janitorArgv: [],
    });
    return this.#composed;
  }

  task(name: string, sandbox: Sandbox, files: TaskFiles): string {
    const root = path.join(this.directory, 'tasks', name);
    const image = sandbox === 'docker' ? 'image = "proctor-base:12"\n' : '';
    const written = {
      'task.toml': `name = "${name}"\n[environment]\n${image}${files.toml ?? ''}\n`,
      'instruction.md': files.instruction ?? 'Do the work.\n',
      'tests/test.sh': files.test,
      ...(files.solve === undefined ? {} : { 'solution/solve.sh': files.solve }),
      ...files.files,
    };
    for (const [file, text] of Object.entries(written)) {
      const target = path.join(root, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, text, { mode: file.endsWith('.sh') ? 0o755 : 0o644 });
    }
    return root;
  }

  async run(tasks: string, agents: string[], sandbox: Sandbox, change: Partial<ExperimentOptions> = {}): Promise<ReportInput> {
    const { client } = await this.open();
    const all = await compileTasks(tasks, { formats, sources, scratch: path.join(this.directory, 'scratch') });
    const problems = all.refused.flatMap((one) => one.issues.map((issue) => issue.message));
    if (problems.length > 0) throw new Error(problems.join('\n'));
    const end = await evalExperiment(client, {
      tasksArgument: tasks,
      compiled: all.compiled,
      refused: [],
      lanes: agents.map((agent) => ({ label: '', agent })),
      agentEnvironmentNames: [],
      environment: { kind: 'inline', spec: EnvironmentSpecSchema.parse({ sandbox }) },
      repeat: 1,
      maxIterations: null,
      concurrency: 1,
      maxAttempts: 1,
      timeoutMultiplier: 1,
      liveProcesses: null,
      rewardKey: null,
      feedback: 'summary',
      experiment: null,
      fresh: false,
      only: null,
      limit: null,
      shuffleSeed: null,
      failFast: null,
      dryRun: false,
      acceptRetries: false,
      skipInvalid: false,
      host: { cpus: 2, freeMemoryMb: 8000 },
      progress: () => {},
      signal: new AbortController().signal,
      now: () => new Date(),
      wait: () => Promise.resolve(),
      hash: sha256,
      ...change,
    });
    if (end.kind !== 'ran') throw new Error('expected a run');
    return end.report;
  }

  /** One task, one agent: the only summary. */
  async one(task: string, agent: string, sandbox: Sandbox, change: Partial<ExperimentOptions> = {}): Promise<SessionSummary> {
    const report = await this.run(task, [agent], sandbox, change);
    const [summary] = report.sessions;
    if (report.sessions.length !== 1 || summary === undefined) throw new Error(`expected one Session, found ${report.sessions.length}`);
    return summary;
  }

  async events(sessionId: string): Promise<EventRow[]> {
    const { client } = await this.open();
    return client.call('sessions.events', { session_id: sessionId, limit: 10_000 });
  }

  async text(sessionId: string, file: string): Promise<string> {
    const { client } = await this.open();
    const found = (await client.call('sessions.files', { session_id: sessionId })).find((one) => one.path === file);
    const content = found?.sha256 == null ? null : await client.blob(found.sha256);
    if (content === null) throw new Error(`no kept file ${file}`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }

  async close(): Promise<void> {
    await this.#composed?.close();
    this.#composed = null;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Why a sandbox cannot be used here; null = it can. */
export async function unusable(name: Sandbox): Promise<string | null> {
  const makers: Record<string, (typeof SANDBOXES)['docker'] | undefined> = SANDBOXES;
  const make = makers[name];
  if (make === undefined) return `there is no ${name} sandbox`;
  const provider = make({ environment: process.env, directory: path.join(tmpdir(), 'proctor-probe') });
  try {
    return await provider.unusable();
  } finally {
    await provider[Symbol.asyncDispose]();
  }
}

/** An agent that runs one script. */
export function script(text: string): string {
  return `command:${JSON.stringify(['sh', '-c', text])}`;
}
