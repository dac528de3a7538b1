import type { Workloads } from '../src/settings/schema.ts'

/**
 * Remembers which controllers ran last. When others start, they look at everything that was written meanwhile.
 */
export class WorkloadMode {
  constructor(private readonly sql: SqlStorage) {
    sql.exec('CREATE TABLE IF NOT EXISTS workload_mode (mode TEXT NOT NULL)')
  }

  /**
   * Stores the mode and the running controllers.
   * @returns the mode before, where it was another; in a new control plane it is `off`
   */
  changedTo(workloads: Workloads, controllers = '*'): { readonly from: string } | undefined {
    const mode = controllers === '*' ? workloads : `${workloads} ${controllers}`
    const from = this.sql.exec<{ mode: string }>('SELECT mode FROM workload_mode').toArray()[0]?.mode ?? 'off'
    if (from === mode) return undefined
    this.sql.exec('DELETE FROM workload_mode')
    this.sql.exec('INSERT INTO workload_mode VALUES (?)', mode)
    return { from }
  }
}
