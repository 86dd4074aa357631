import type { SessionFile } from '../api/operations.ts';
import type { EventData, EventRow } from '../domain/events.ts';
import type { Store } from '../store.ts';

type Output = { sha256: string; bytes: number } | null;

/** Everything that was kept of a Session, in the order of its events. */
export async function sessionFiles(store: Store, sessionId: string): Promise<SessionFile[]> {
  const files: SessionFile[] = [];
  const types = [
    'environment.provisioned',
    'environment.failed',
    'run.completed',
    'run.failed',
    'verifier.completed',
    'deliverable.captured',
  ] as const;
  let runs = 0;
  for await (const rows of store.events(sessionId, { types })) {
    for (const row of rows) {
      if (row.data === null) continue;
      if (row.type === 'run.completed' || row.type === 'run.failed') runs += 1;
      files.push(...filesOf(row, JSON.parse(row.data) as never, runs));
    }
  }
  return files;
}

function filesOf(row: EventRow, data: never, run: number): SessionFile[] {
  const output = (path: string, kind: SessionFile['kind'], kept: Output): SessionFile[] =>
    kept === null ? [] : [{ path, kind, state: 'kept', bytes: kept.bytes, sha256: kept.sha256, seq: row.seq, reason: null }];
  switch (row.type) {
    case 'environment.provisioned':
      return output('build.log', 'log', (data as EventData<'environment.provisioned'>).build_log);
    case 'environment.failed':
      return output('environment.log', 'log', (data as EventData<'environment.failed'>).log);
    case 'run.completed':
    case 'run.failed': {
      const { stdout, stderr } = data as EventData<'run.completed'>;
      return [...output(`run-${run}/stdout.txt`, 'output', stdout), ...output(`run-${run}/stderr.txt`, 'output', stderr)];
    }
    case 'verifier.completed': {
      const verifier = data as EventData<'verifier.completed'>;
      const base = `verifier-${verifier.iteration ?? 1}${verifier.pass === 'second' ? '-second' : ''}`;
      return [
        ...output(`${base}/output.txt`, 'verifier', verifier.output),
        ...verifier.files.map(
          (file): SessionFile => ({
            path: `${base}/${file.path}`,
            kind: 'verifier',
            state: file.sha256 === null ? 'not_retained' : 'kept',
            bytes: file.bytes,
            sha256: file.sha256,
            seq: row.seq,
            reason: file.sha256 === null ? 'too large to keep' : null,
          }),
        ),
      ];
    }
    case 'deliverable.captured': {
      const one = data as EventData<'deliverable.captured'>;
      const isDiff = one.kind === 'diff';
      return [
        {
          path: isDiff ? 'workdir.diff' : one.path,
          kind: isDiff ? 'diff' : one.kind === 'report' ? 'report' : 'deliverable',
          state: one.state,
          bytes: one.bytes,
          sha256: one.sha256,
          seq: row.seq,
          reason: one.reason ?? null,
        },
      ];
    }
    default:
      return [];
  }
}
