/**
 * Definitions of whose objects somebody watched: what watchers see changes with the definition, and nobody else
 * knows which kinds without objects have any. Bound: the definitions there are, once the work of those that went is done.
 */

export class WatchedKindTable {
  constructor(private readonly sql: SqlStorage) {
    sql.exec('CREATE TABLE IF NOT EXISTS watched (name TEXT, uid TEXT, PRIMARY KEY (name, uid)) WITHOUT ROWID')
  }

  add(name: string, uid: string): void {
    this.sql.exec('INSERT INTO watched VALUES (?, ?) ON CONFLICT DO NOTHING', name, uid)
  }

  has(name: string): boolean {
    return this.sql.exec('SELECT 1 FROM watched WHERE name = ?', name).toArray().length > 0
  }

  forgetOthers(name: string, uid: string): void {
    this.sql.exec('DELETE FROM watched WHERE name = ? AND uid <> ?', name, uid)
  }
}
