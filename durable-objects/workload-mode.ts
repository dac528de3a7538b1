import type { Workloads } from '../src/settings/schema.ts'

/** Which workload controllers ran last time. When others begin to run, they look at everything that was written meanwhile. */
export class WorkloadMode {
  constructor(private readonly sql: SqlStorage) {
    sql.exec('CREATE TABLE IF NOT EXISTS workload_mode (mode TEXT NOT NULL)')
  }

  /** Stores the mode, and which controllers run. @returns whether it changed; a control plane begins with them off */
  changesTo(workloads: Workloads, controllers = '*'): boolean {
    const mode = workloads === 'off' || controllers === '*' ? workloads : `${workloads} ${controllers}`
    const before = this.sql.exec<{ mode: string }>('SELECT mode FROM workload_mode').toArray()[0]?.mode ?? 'off'
    if (before === mode) return false
    this.sql.exec('DELETE FROM workload_mode')
    this.sql.exec('INSERT INTO workload_mode VALUES (?)', mode)
    return true
  }
}
