/** The object's own name, which the platform need not tell when an alarm wakes it. */
export const name = {
  id: '0002-name',
  sql: 'CREATE TABLE name (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;',
}
