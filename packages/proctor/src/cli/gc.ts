import { terminalLine } from '../domain/terminal-text.ts';
import { bytes, table } from './columns.ts';
import type { Call } from './command.ts';
import { withClient } from './open.ts';
import { tell } from './tell.ts';

/** `proctor gc`: removes what nobody will come back for, and says how much it held. */
export async function run(call: Call): Promise<number> {
  const { given, terminal } = call;
  const dryRun = given.flag('dry-run');
  const olderThan = given.number('older-than');
  const collected = await withClient(call, (client) =>
    client.call('store.collect', {
      dry_run: dryRun,
      all_stores: given.flag('all-stores'),
      max_bytes: given.number('max-size'),
      ...(olderThan === null ? {} : { older_than_ms: olderThan }),
    }),
  );
  return tell(call, { ...collected, dry_run: dryRun }, (one) => {
    const rows = one.removed.map((thing) => [
      thing.kind,
      terminalLine(thing.id.slice(0, 40)),
      terminalLine(thing.session),
      thing.state,
      bytes(thing.bytes),
    ]);
    const list = rows.length === 0 ? '' : `${table(['kind', 'id', 'session', 'owner', 'size'], rows, terminal.paint.dim)}\n`;
    const interrupted = one.interrupted === 0 ? '' : ` ${one.interrupted} Sessions of dead owners were marked interrupted.`;
    const verb = dryRun ? 'Would remove' : 'Removed';
    return `${list}${verb} ${one.removed.length} things of dead owners and ${one.blobs} kept files: ${bytes(one.bytes)}.${interrupted}\n`;
  });
}
