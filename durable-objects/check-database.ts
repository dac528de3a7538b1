/** Checks page by page whether SQLite can read an object's database. */

/** Bytes. Checking a larger database would block requests; its damage shows when a request reads it. */
const MAX_CHECKED = 16 << 20

/** @returns the error; undefined where the checked part is readable */
export function databaseProblem(sql: SqlStorage): string | undefined {
  if (sql.databaseSize > MAX_CHECKED) return undefined
  const [row] = sql.exec<{ quick_check: string }>('PRAGMA quick_check(1)').toArray()
  return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? 'nothing was found in it')
}
