/**
 * The resources whose objects name owners, by the kinds of these owners. Clients write the kinds into ownerReferences
 * and may make them up, so a resource with more than MAX_KINDS of them counts as naming any kind. Bound: MAX_KINDS
 * for each resource that is built in or defined; a resource whose definition was deleted is removed.
 */
import type { GroupResource } from '../src/api/group-version.ts'

export const MAX_KINDS = 200
/** Stands for any kind; no kind has this name. */
const ANY = '*'

export class DependentTable {
  constructor(private readonly sql: SqlStorage) {
    sql.exec(
      `CREATE TABLE IF NOT EXISTS dependents (kind TEXT, "group" TEXT, resource TEXT,
       PRIMARY KEY (kind, "group", resource)) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS dependents_of ON dependents ("group", resource)`,
    )
  }

  add({ group, resource }: GroupResource, kinds: readonly string[]): void {
    if (this.kindsOf(group, resource, ANY) > 0) return
    for (const kind of kinds)
      this.sql.exec('INSERT INTO dependents VALUES (?, ?, ?) ON CONFLICT DO NOTHING', kind, group, resource)
    if (this.kindsOf(group, resource) <= MAX_KINDS) return
    this.sql.exec('DELETE FROM dependents WHERE "group" = ? AND resource = ?', group, resource)
    this.sql.exec('INSERT INTO dependents VALUES (?, ?, ?)', ANY, group, resource)
  }

  of(kind: string): GroupResource[] {
    return this.sql
      .exec<{
        group: string
        resource: string
      }>('SELECT "group", resource FROM dependents WHERE kind IN (?, ?)', kind, ANY)
      .toArray()
  }

  /** Removes a type whose definition was deleted: at most MAX_KINDS rows. */
  forget({ group, resource }: GroupResource): void {
    this.sql.exec('DELETE FROM dependents WHERE "group" = ? AND resource = ?', group, resource)
  }

  private kindsOf(group: string, resource: string, kind?: string): number {
    return this.sql
      .exec<{
        kinds: number
      }>(
        'SELECT count(*) AS kinds FROM dependents WHERE "group" = ? AND resource = ? AND kind = coalesce(?, kind)',
        group,
        resource,
        kind ?? null,
      )
      .one().kinds
  }
}
