import type { AbsentOwner } from '../src/registry/work/collector-work.ts'
import type { AbsentOwners } from '../src/controllers/controller.ts'

/** The most owners that are kept, as in kube-controller-manager's garbage collector. The oldest one goes first. */
const MAX = 500

/**
 * Owners that do not exist, on disk. When the collector reaches the last of their dependents, the owners' definition
 * may be gone.
 */
export class AbsentOwnerTable implements AbsentOwners {
  constructor(private readonly sql: SqlStorage) {
    sql.exec(
      `CREATE TABLE IF NOT EXISTS departed (seq INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE,
       kind TEXT NOT NULL, namespace TEXT NOT NULL)`,
    )
  }

  has({ uid, ownerKind, namespace }: AbsentOwner): boolean {
    const found = this.sql.exec(
      'SELECT 1 FROM departed WHERE uid = ? AND kind = ? AND namespace = ?',
      uid,
      ownerKind,
      namespace,
    )
    return found.toArray().length > 0
  }

  clear(): void {
    this.sql.exec('DELETE FROM departed')
  }

  add({ uid, ownerKind, namespace }: AbsentOwner): void {
    this.sql.exec(
      'INSERT INTO departed (uid, kind, namespace) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      uid,
      ownerKind,
      namespace,
    )
    this.sql.exec(`DELETE FROM departed WHERE seq <= (SELECT max(seq) FROM departed) - ${MAX}`)
  }
}
