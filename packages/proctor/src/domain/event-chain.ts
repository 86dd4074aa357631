import { canonicalJson, canonicalString, type Hash } from './canonical-json.ts';
import type { EventRow, EventType } from './events.ts';

/** Links one draft to the event before it. `data` is canonical JSON text, returned so that it is written as hashed. */
export function seal(
  draft: { type: EventType; at: string; run_id?: string; author: string; data: unknown },
  place: { seq: number; id: string; prev: string },
  hash: Hash,
): EventRow {
  const data = canonicalJson(draft.data);
  return sealText({ ...draft, data, data_sha256: hash(data) }, place, hash);
}

/** The same for data that is canonical JSON text already, with its digest. */
export function sealText(
  draft: { type: EventType; at: string; run_id?: string; author: string; data: string; data_sha256: string },
  place: { seq: number; id: string; prev: string },
  hash: Hash,
): EventRow {
  const { type, at, data, data_sha256 } = draft;
  const { seq, id, prev } = place;
  const run_id = draft.run_id === undefined ? null : draft.run_id.toWellFormed();
  const author = draft.author.toWellFormed();
  const written = { author: canonicalString(author), runId: run_id === null ? 'null' : canonicalString(run_id) };
  // Times, types, ids and digests hold nothing that JSON escapes; ChainCheck, which reads what anyone may have written, quotes them properly.
  const head = `{"at":"${at}","author":${written.author},"data_sha256":"${data_sha256}","id":"${id}","prev":"${prev}","run_id":${written.runId},"seq":${seq},"type":"${type}"}`;
  return { seq, id, type, at, run_id, author, data_sha256, prev, hash: hash(head), data };
}

export type ChainFault = { seq: number; kind: 'gap' | 'broken_link' | 'wrong_hash' | 'wrong_data'; detail: string };

/** Re-verifies a log offline, event by event. `absent` counts events whose content was removed, which breaks nothing. */
export class ChainCheck {
  readonly faults: ChainFault[] = [];
  events = 0;
  absent = 0;
  #seq = 0;
  #prev = '';
  readonly #hash: Hash;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  next(row: EventRow): void {
    this.events += 1;
    const expected = this.#seq + 1;
    if (row.seq !== expected) this.faults.push({ seq: row.seq, kind: 'gap', detail: `expected seq ${expected}, found ${row.seq}` });
    if (row.prev !== this.#prev)
      this.faults.push({ seq: row.seq, kind: 'broken_link', detail: `prev is ${row.prev}, the event before it has hash ${this.#prev}` });
    if (row.data === null) this.absent += 1;
    else if (this.#hash(row.data) !== row.data_sha256)
      this.faults.push({ seq: row.seq, kind: 'wrong_data', detail: 'data does not match data_sha256' });
    if (this.#hash(headText(row)) !== row.hash)
      this.faults.push({ seq: row.seq, kind: 'wrong_hash', detail: 'the event does not match its hash' });
    this.#seq = row.seq;
    this.#prev = row.hash;
  }
}

/** Canonical JSON of what `hash` covers. */
function headText({ seq, id, type, at, run_id, author, data_sha256, prev }: EventRow): string {
  return canonicalJson({ seq, id, type, at, run_id, author, data_sha256, prev });
}
