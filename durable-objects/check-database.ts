/** Whether an object's database can be read: what SQLite finds of it, page by page. */

/** Bytes. Checking a larger database would block requests; its damage shows when a request reads it. */
const MAX_CHECKED = 16 << 20

/** @returns the error; undefined: none in the checked part */
export function databaseProblem(sql: SqlStorage): string | undefined {
  if (sql.databaseSize > MAX_CHECKED) return undefined
  const [row] = sql.exec<{ quick_check: string }>('PRAGMA quick_check(1)').toArray()
  return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? 'nothing was found in it')
}
