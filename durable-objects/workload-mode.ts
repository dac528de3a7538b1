import type { Workloads } from '../src/settings/schema.ts'

/**
 * Remembers which workload controllers ran last. When others start, they look at everything that was written
 * meanwhile.
 */
export class WorkloadMode {
  constructor(private readonly sql: SqlStorage) {
    sql.exec('CREATE TABLE IF NOT EXISTS workload_mode (mode TEXT NOT NULL)')
  }

  /**
   * Stores the mode and the running controllers.
   * @returns whether they changed; in a new control plane they are off
   */
  changesTo(workloads: Workloads, controllers = '*'): boolean {
    const mode = workloads === 'off' || controllers === '*' ? workloads : `${workloads} ${controllers}`
    const before = this.sql.exec<{ mode: string }>('SELECT mode FROM workload_mode').toArray()[0]?.mode ?? 'off'
    if (before === mode) return false
    this.sql.exec('DELETE FROM workload_mode')
    this.sql.exec('INSERT INTO workload_mode VALUES (?)', mode)
    return true
  }
}
