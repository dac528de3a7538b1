/** The log of all versions, a narrow table of what is current, and what controllers have yet to be told. */
export const log = {
  id: '0001-log',
  sql: `
    -- rv: the revision, text order is key order. t: 0 added, 1 modified, 2 deleted. crv: revision of the creation.
    -- prv: revision of the state before, null when there was none. at: UTF-16 offset of the revision's digits in v.
    -- l: what selectors look at. v: the JSON text, last, so that a read of the other columns does not read over it.
    CREATE TABLE rev (
      rv INTEGER PRIMARY KEY, k TEXT NOT NULL, t INTEGER NOT NULL, crv INTEGER NOT NULL, prv INTEGER,
      at INTEGER NOT NULL, l TEXT NOT NULL, v TEXT NOT NULL
    ) STRICT;
    -- WITHOUT ROWID suits narrow rows: one B-tree in key order, no second one for the key.
    CREATE TABLE cur (k TEXT PRIMARY KEY, rv INTEGER NOT NULL, l TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE meta (k TEXT PRIMARY KEY, v INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, k TEXT NOT NULL, topic TEXT NOT NULL, payload TEXT NOT NULL) STRICT;
  `,
}
