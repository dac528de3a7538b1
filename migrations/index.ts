/**
 * The schema of a shard, in steps. Append only: a step that was ever released is never changed, because objects
 * somewhere have rows as it left them.
 */
import { log } from './0001-log.ts'
import { name } from './0002-name.ts'
import { relations } from './0003-relations.ts'
import { holds } from './0004-holds.ts'
import { MIGRATED_BY_NEWER } from './newer.ts'

export interface Migration {
  readonly id: string
  readonly sql: string
}

export const migrations: readonly Migration[] = [log, name, relations, holds]

/** Applies what is missing, in order. All or nothing: the caller's turn is one transaction. */
export function migrate(storage: DurableObjectStorage, steps: readonly Migration[] = migrations): void {
  storage.transactionSync(() => {
    storage.sql.exec('CREATE TABLE IF NOT EXISTS migration (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID')
    const applied = new Set(
      storage.sql
        .exec<{ id: string }>('SELECT id FROM migration')
        .toArray()
        .map(({ id }) => id),
    )
    const unknown = [...applied].filter((id) => !steps.some((step) => step.id === id))
    // Written by a newer release: going on could destroy what this one does not know.
    if (unknown.length > 0) throw new Error(`storage ${MIGRATED_BY_NEWER}: ${unknown.join(', ')}`)
    for (const { id, sql } of steps.filter((step) => !applied.has(step.id))) {
      storage.sql.exec(sql)
      storage.sql.exec('INSERT INTO migration (id) VALUES (?)', id)
    }
  })
}
