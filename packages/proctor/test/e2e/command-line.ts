import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const PROGRAM = path.join(import.meta.dirname, '..', '..', 'bin', 'proctor.js');

export type Ended = { code: number | null; stdout: string; stderr: string };

/** A folder with a store of its own, and the program run in it as a person would. */
export class CommandLine {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'proctor-cli-'));

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      const target = path.join(this.folder, name);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, text, { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
    }
  }

  async run(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const { NO_COLOR: _, FORCE_COLOR: __, PROCTOR_URL: ___, ...inherited } = process.env;
    const env = { ...inherited, PROCTOR_HOME: path.join(this.folder, 'home'), ...environment };
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const end: Ended = { code: null, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      end.stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      end.stderr += chunk;
    });
    const [code] = await once(child, 'close');
    return { ...end, code };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The smallest whole task. */
export function smallTask(change: { toml?: string; environment?: string } = {}): Record<string, string> {
  return {
    'task/task.toml': `name = "small"\n${change.toml ?? ''}\n[environment]\n${change.environment ?? 'docker_image = "debian:12-slim"'}\n\n[verifier]\ncommand = ["sh", "/tests/check.sh"]\n`,
    'task/instruction.md': 'Do \u001b[31mnothing\u001b[0m.\n',
    'task/tests/check.sh': 'echo 1 > /logs/verifier/reward.txt\n',
    'task/solution/solve.sh': '#!/bin/sh\ntrue\n',
  };
}
