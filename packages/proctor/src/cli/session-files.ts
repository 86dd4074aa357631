import type { Client } from '../api/client.ts';
import type { SessionFile } from '../api/operations.ts';
import { AppError } from '../domain/errors.ts';
import { terminalLine, terminalLines } from '../domain/terminal-text.ts';
import { bytes, table } from './columns.ts';
import type { Call } from './command.ts';
import { withClient } from './open.ts';
import { meant } from './program.ts';
import { tell } from './tell.ts';

export async function files(call: Call): Promise<number> {
  const found = await withClient(call, (client) => filesOf(client, call));
  return tell(call, found, (all) => {
    if (all.length === 0) return 'Nothing was kept of this Session.\n';
    const rows = all.map((one) => [
      one.kind,
      bytes(one.bytes),
      one.state,
      terminalLine(one.path),
      one.reason === null ? '' : terminalLine(one.reason),
    ]);
    return table(['kind', 'size', 'state', 'path', ''], rows, call.terminal.paint.dim);
  });
}

/** Bytes as they are, unless a terminal would read them. */
export async function cat(call: Call): Promise<number> {
  const path = call.words[1] ?? '';
  await withClient(call, async (client) => {
    const all = await filesOf(client, call);
    const found = all.filter((one) => one.path === path);
    const kept = found.findLast((one) => one.state === 'kept') ?? found.at(-1);
    if (kept === undefined)
      throw new AppError(
        'not_found',
        `no file ${JSON.stringify(path)} was kept${meant(
          path,
          all.map((one) => one.path),
        )}: proctor sessions files lists them`,
      );
    await write(call, client, kept);
  });
  return 0;
}

export async function diff(call: Call): Promise<number> {
  await withClient(call, async (client) => {
    const found = (await filesOf(client, call)).findLast((one) => one.kind === 'diff');
    if (found === undefined)
      throw new AppError('not_found', 'no diff was kept of this Session: its sandbox could not tell what changed, or it never ran');
    await write(call, client, found);
  });
  return 0;
}

async function filesOf(client: Client, call: Call): Promise<SessionFile[]> {
  return client.call('sessions.files', { session_id: call.words[0] ?? '' });
}

async function write({ terminal }: Call, client: Client, file: SessionFile): Promise<void> {
  const content = file.sha256 === null ? null : await client.blob(file.sha256);
  if (content === null)
    throw new AppError(
      'not_found',
      `${file.path}: ${file.state}${file.reason === null ? '' : ` (${file.reason})`}, its bytes are not in the store`,
    );
  const decoder = new TextDecoder();
  for await (const chunk of content) {
    if (terminal.outIsTty) terminal.out(terminalLines(decoder.decode(chunk, { stream: true })));
    else terminal.outBytes(chunk);
  }
}
