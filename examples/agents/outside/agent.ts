// A module agent: a driver that stays on this side and works on the sandbox through exec. A model loop has this shape, with a model in the
// place of `decide`. The bytes of this package and `version` are part of the AgentVersion.
export const version = '1.0';

type Exec = (argv: string[], options: object) => Promise<{ kind: string; code?: number }>;
type Work = { exec: Exec; input: string; workdir: string; signal: AbortSignal; emit(message: object): void };

export function createAgent() {
  return { speaks: { kind: 'driver', drive } };
}

async function drive({ exec, input, workdir, signal, emit }: Work) {
  const command = decide(input);
  if (command === null) {
    emit({ type: 'agent.message', text: 'I know no command for this task.' });
    return { kind: 'failed', reason: 'no command for this task' };
  }
  emit({ type: 'agent.tool_use', id: 'call-1', name: 'sh', input: { command } });
  let said = '';
  const listen = (chunk: Uint8Array) => {
    said += new TextDecoder().decode(chunk);
  };
  const exit = await exec(['sh', '-c', command], { cwd: workdir, timeLimitMs: 30_000, stdout: listen, stderr: listen, signal });
  const failed = exit.kind !== 'exited' || exit.code !== 0;
  emit({ type: 'agent.tool_result', id: 'call-1', text: said, is_error: failed });
  return failed ? { kind: 'failed', reason: `the command ended as ${JSON.stringify(exit)}` } : { kind: 'completed' };
}

function decide(instruction: string): string | null {
  const line = /^ {4}(Hello.*)$/m.exec(instruction)?.[1];
  return line === undefined ? null : `printf '%s\\n' '${line}' > greeting.txt`;
}
