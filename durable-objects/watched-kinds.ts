/**
 * Definitions whose objects were ever watched. A change of a definition changes what watchers see, also of kinds
 * without objects. A row goes when the work of its definition is done. Bound: MOST; beyond that every definition
 * counts as watched, which costs work and loses nothing.
 */

const MOST = 20_000
/** The row that says that all definitions are watched: no definition has this name or uid. */
const ALL = ''

export class WatchedKindTable {
  /** At least the number of rows: repeated and deleted entries are counted too. */
  private count: number
  private isFull: boolean

  /** @param most see MOST */
  constructor(
    private readonly sql: SqlStorage,
    private readonly most = MOST,
  ) {
    sql.exec('CREATE TABLE IF NOT EXISTS watched (name TEXT, uid TEXT, PRIMARY KEY (name, uid)) WITHOUT ROWID')
    this.count = this.rows()
    this.isFull = this.has(ALL)
  }

  add(name: string, uid: string): void {
    if (this.isFull) return
    if (this.count >= this.most) this.count = this.rows()
    this.isFull = this.count >= this.most
    this.insert(this.isFull ? [ALL, ALL] : [name, uid])
    this.count++
  }

  private insert(row: [name: string, uid: string]): void {
    this.sql.exec('INSERT INTO watched VALUES (?, ?) ON CONFLICT DO NOTHING', ...row)
  }

  has(name: string): boolean {
    return this.sql.exec('SELECT 1 FROM watched WHERE name IN (?, ?)', name, ALL).toArray().length > 0
  }

  forgetOthers(name: string, uid: string): void {
    this.sql.exec('DELETE FROM watched WHERE name = ? AND uid <> ?', name, uid)
  }

  private rows(): number {
    return this.sql.exec<{ n: number }>('SELECT count(*) AS n FROM watched').one().n
  }
}
