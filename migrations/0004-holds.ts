/** Who reads a past that compaction must leave, from which revision on, and until when (milliseconds since 1970). */
export const holds = {
  id: '0004-holds',
  sql: 'CREATE TABLE held (holder TEXT PRIMARY KEY, rv INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID',
}
