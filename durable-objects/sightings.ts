import type { Sighting, Sightings } from '../src/controllers/controller.ts'

const ZONES = 'eviction-zone/'
/** Milliseconds, longer than any pause between two nodes of a zone. */
const ZONES_MS = 600_000

/** Observations of controllers with their times. They are on disk, so that a new instance continues to count. */
export class SightingTable implements Sightings {
  constructor(private readonly sql: SqlStorage) {
    sql.exec(
      'CREATE TABLE IF NOT EXISTS sighting (key TEXT PRIMARY KEY, record TEXT NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID',
    )
  }

  get(key: string): Sighting | undefined {
    return this.sql
      .exec<{ record: string; time: number }>('SELECT record, time FROM sighting WHERE key = ?', key)
      .toArray()[0]
  }

  set(key: string, sighting: Sighting | undefined): void {
    if (sighting === undefined) this.sql.exec('DELETE FROM sighting WHERE key = ?', key)
    else this.sql.exec('INSERT OR REPLACE INTO sighting VALUES (?, ?, ?)', key, sighting.record, sighting.time)
    // others go with their node; those of zones go when they are too old to mean anything
    if (key.startsWith(ZONES) && sighting !== undefined)
      this.sql.exec(
        'DELETE FROM sighting WHERE key > ? AND key < ? AND time < ?',
        ZONES,
        `${ZONES}\u{10ffff}`,
        sighting.time - ZONES_MS,
      )
  }

  clear(): void {
    this.sql.exec('DELETE FROM sighting')
  }
}
