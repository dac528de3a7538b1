/**
 * Marks a run of the controllers on disk. An instance that finds the mark knows that an earlier one ended in the middle of
 * a run: the platform moved or updated it, its process was killed, or its work took too much memory or CPU time.
 */
export class RunMark {
  /** When this instance began and found the mark, in milliseconds since 1970; undefined: it found none. */
  readonly foundAt: number | undefined
  private isSet: boolean

  constructor(
    private readonly sql: SqlStorage,
    now: () => number,
  ) {
    sql.exec('CREATE TABLE IF NOT EXISTS run (is_under_way INTEGER PRIMARY KEY) WITHOUT ROWID')
    this.isSet = sql.exec('SELECT 1 FROM run').toArray().length > 0
    this.foundAt = this.isSet ? now() : undefined
  }

  set(): void {
    if (!this.isSet) this.sql.exec('INSERT INTO run VALUES (1)')
    this.isSet = true
  }

  remove(): void {
    if (this.isSet) this.sql.exec('DELETE FROM run')
    this.isSet = false
  }
}
