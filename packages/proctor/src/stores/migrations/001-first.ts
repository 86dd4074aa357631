/**
 * `events.place` = session number × 2^24 + seq: one b-tree, no second index. `data` is last, so that a scan of the other columns never follows the
 * pages of a large one. A Session's last seq, time and hash are those of its last event, so that an append writes to one table. AUTOINCREMENT: a deleted Session's number is never given again, so its writer cannot write into another's log.
 */
export const FIRST = `
CREATE TABLE store (id TEXT NOT NULL) STRICT;

CREATE TABLE sessions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner TEXT,
  token INTEGER NOT NULL,
  experiment TEXT,
  trial TEXT,
  lane TEXT,
  task_name TEXT,
  created_at TEXT NOT NULL,
  status TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_experiment ON sessions (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX sessions_trial ON sessions (trial) WHERE trial IS NOT NULL;
CREATE INDEX sessions_open ON sessions (status) WHERE owner IS NOT NULL AND status <> 'closed';

CREATE TABLE events (
  place INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  at TEXT NOT NULL,
  run_id TEXT,
  id TEXT NOT NULL,
  author TEXT NOT NULL,
  data_sha256 TEXT NOT NULL,
  prev TEXT NOT NULL,
  hash TEXT NOT NULL,
  data TEXT
) STRICT;

CREATE TABLE blobs (
  sha256 TEXT NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL,
  put_at INTEGER NOT NULL,
  content BLOB
) STRICT;
CREATE TABLE blob_refs (
  session INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (session, sha256)
) STRICT, WITHOUT ROWID;

CREATE TABLE records (
  noun TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  id TEXT NOT NULL,
  digest TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (noun, name, version),
  UNIQUE (noun, name, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_id ON records (noun, id);
`;
