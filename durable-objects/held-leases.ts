import type { HeldLease, HeldLeases } from '../src/controllers/controller.ts'

/** Leases that other programs hold, on disk: an instance that begins knows them before it does anything. */
export class HeldLeaseTable implements HeldLeases {
  constructor(private readonly sql: SqlStorage) {
    sql.exec(
      'CREATE TABLE IF NOT EXISTS held_lease (name TEXT PRIMARY KEY, record TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID',
    )
  }

  get(name: string): HeldLease | undefined {
    return this.sql
      .exec<{ record: string; until: number }>('SELECT record, until FROM held_lease WHERE name = ?', name)
      .toArray()[0]
  }

  set(name: string, held: HeldLease | undefined): void {
    if (held === undefined) this.sql.exec('DELETE FROM held_lease WHERE name = ?', name)
    else this.sql.exec('INSERT OR REPLACE INTO held_lease VALUES (?, ?, ?)', name, held.record, held.until)
  }

  clear(): void {
    this.sql.exec('DELETE FROM held_lease')
  }
}
