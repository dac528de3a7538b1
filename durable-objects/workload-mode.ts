import { parseControllers } from '../src/configuration/controllers.ts'
import type { WorkloadSwitches } from '../src/settings.ts'

/**
 * Remembers which controllers ran last. When others start, they look at everything that was written meanwhile.
 */
export class WorkloadMode {
  constructor(private readonly sql: SqlStorage) {
    sql.exec('CREATE TABLE IF NOT EXISTS workload_mode (mode TEXT NOT NULL)')
  }

  /**
   * Stores the switches.
   * @returns what starts anew: nothing where they are as before. A new control plane collected garbage, and had no
   *   workload controllers
   */
  changedTo({ workloads, controllers }: WorkloadSwitches): {
    readonly workloads: boolean
    readonly collector: boolean
  } {
    const mode = controllers.text === '*' ? workloads : `${workloads} ${controllers.text}`
    const before = this.sql.exec<{ mode: string }>('SELECT mode FROM workload_mode').toArray()[0]?.mode ?? 'off'
    if (before === mode) return { workloads: false, collector: false }
    this.sql.exec('DELETE FROM workload_mode')
    this.sql.exec('INSERT INTO workload_mode VALUES (?)', mode)
    return { workloads: workloads !== 'off', collector: controllers.collectsGarbage && !collectedGarbage(before) }
  }
}

/** A list that an earlier release took may name a controller that this one does not know. */
function collectedGarbage(mode: string): boolean {
  const list = mode.indexOf(' ')
  if (list === -1) return true
  try {
    return parseControllers(mode.slice(list + 1)).collectsGarbage
  } catch {
    return false
  }
}
