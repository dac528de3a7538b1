/**
 * Drops what nobody may read any more: states that were replaced longer ago than the retention, and deletions. In
 * batches of one turn each, so that requests get in between. Scheduled only when there is something to drop.
 *
 *   floor 10           rev: 4 a, 7 b, 12 a (replaced 4), 15 b deleted (replaced 7), 18 a (replaced 12)
 *   compact up to 15   rev: 12 a, 18 a          4 was replaced at 12, 7 at 15, and 15 itself says no more than
 *   floor 15                                    "b is not there"; 12 stays: 18 shows what a watcher lost by it
 */
import { revisionAt } from '../src/storage/revision.ts'
import type { Log } from './log.ts'
import type { Statements } from './statements.ts'
import { DELETED } from './statements.ts'

/** Changes a turn. */
const BATCH = 1_000

export interface Compaction {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly dropped: number
}

export class Compactor {
  lastRun: Compaction | undefined

  constructor(
    private readonly log: Log,
    private readonly statements: Statements,
    private readonly transact: (work: () => void) => void,
    private readonly now: () => number,
    private readonly nextTurn: () => Promise<void>,
  ) {}

  /** When to run again: undefined when there is nothing to drop until something is written. Milliseconds since 1970. */
  due(): number | undefined {
    if (!this.statements.hasSuperseded(this.log.floor)) return undefined
    return this.now() + this.log.retention
  }

  /** @param target the floor to be reached */
  async run(target = revisionAt(this.now() - this.log.retention)): Promise<Compaction> {
    target = Math.min(target, this.log.last)
    let dropped = 0
    for (let step = this.step(target); ; step = this.step(target)) {
      dropped += step
      if (this.log.floor >= target) break
      await this.nextTurn()
    }
    return (this.lastRun = { at: this.now(), dropped })
  }

  /** Raises the floor over one batch of changes. */
  private step(target: number): number {
    const { log, statements } = this
    if (log.floor >= target) return 0
    const changes = statements.superseded(log.floor, target, BATCH)
    const dropped = changes.flatMap(({ rv, t, prv }) => [
      ...(prv === null ? [] : [prv]),
      ...(t === DELETED ? [rv] : []),
    ])
    const floor = changes.length < BATCH ? target : changes.at(-1)!.rv
    this.transact(() => {
      if (dropped.length > 0) statements.deleteVersions(dropped)
      statements.setMeta('floor', floor)
    })
    log.floor = floor
    return dropped.length
  }
}
