/**
 * Drops states that were replaced longer ago than the retention, and deletions of that age. It works in batches of one
 * turn each. A batch is small, and between two of them requests have their turns. It is scheduled only when there is
 * something to drop.
 *
 *   floor 10           rev: 4 a, 7 b, 12 a (replaced 4), 15 b deleted (replaced 7), 18 a (replaced 12)
 *   compact up to 15   rev: 12 a, 18 a          4 was replaced at 12, 7 at 15, and 15 itself says no more than
 *   floor 15                                    "b is not there"; 12 stays: 18 shows what a watcher lost by it
 *
 * The first batch raises the floor. The last batch notes that nothing is left below the floor. A run may be interrupted
 * anywhere: every revision from the floor on stays complete, and the next run drops the rest. A run that takes too long
 * for one invocation notes how far it came. A run writes four rows of its own at most, however much it drops.
 */
import type { History } from '../src/storage/history.ts'
import { SHORTEST } from '../src/storage/history.ts'
import { revisionAt, timeOf } from '../src/storage/revisions/revision.ts'
import type { Revision } from '../src/storage/storage.ts'
import { beginRun } from './invocation.ts'
import type { Log } from './log.ts'
import type { Statements } from './statements.ts'
import { DELETED } from './statements.ts'

/** A turn ends after this many dropped rows, dropped bytes, or checked changes, whichever comes first. */
const BATCH = { rows: 64, bytes: 256 * 1024, changes: 1_000 }
/** Changes that are checked to decide whether there is anything to drop. */
const LOOK = 1_000

export class Compactor {
  private isRunning = false

  /**
   * @param transact does all of the work or none of it
   * @param others gives waiting requests their turn
   */
  constructor(
    private readonly log: Log,
    private readonly statements: Statements,
    private readonly history: History,
    private readonly transact: (work: () => void) => void,
    private readonly now: () => number,
    private readonly yieldToWriters: () => Promise<void>,
  ) {}

  /** When to run again: undefined when there is nothing to drop until something is written. Milliseconds since 1970. */
  due(): number | undefined {
    if (this.clean < this.log.floor) return this.now()
    const first = this.statements.firstSuperseding(this.log.floor, LOOK)
    if (first === undefined) return undefined
    const { retention } = this.history
    // waits a quarter of the retention, so that one run drops many versions
    return Math.max(timeOf(first) + retention, this.now() + retention / 4)
  }

  /**
   * More changes were written since the last run than the history may hold, so compaction begins before the retention
   * is over.
   */
  get isPressed(): boolean {
    return this.log.appended >= (this.history.changes ?? Infinity)
  }

  /**
   * @param target the floor to be reached
   * @returns how many versions were dropped
   */
  async run(target = this.target()): Promise<number> {
    if (this.isRunning) return 0
    this.isRunning = true
    this.log.appended = 0
    let dropped = 0
    const isOver = beginRun(this.now)
    try {
      const floor = Math.max(this.log.floor, Math.min(target, this.log.last, this.held()))
      for (let from = this.clean; from < floor;) {
        const batch = this.batch(from, floor)
        this.drop(batch, from, floor)
        dropped += batch.revisions.length
        from = batch.upTo
        if (from < floor && isOver()) {
          this.statements.setMeta('clean', from)
          break
        }
        if (from < floor) await this.yieldToWriters()
      }
    } finally {
      this.isRunning = false
    }
    return dropped
  }

  /** When the last run ended. Read from the database: the instance that ran it is usually gone. */
  get lastRun(): number | undefined {
    return this.statements.meta('compacted') || undefined
  }

  /** Unreadable versions up to this revision have been dropped. It equals the floor, unless a run was interrupted. */
  private get clean(): Revision {
    return this.statements.meta('clean') || this.log.floor
  }

  private target(): Revision {
    const { retention, changes } = this.history
    const byAge = revisionAt(this.now() - retention)
    const byNumber = changes === undefined ? 0 : this.statements.newestBut(changes)
    return Math.max(byAge, Math.min(byNumber, revisionAt(this.now() - SHORTEST)))
  }

  /** The oldest revision that a long reader holds. A hold ends when the reader is done or silent for too long. */
  private held(): Revision {
    return this.statements.held(this.now()) || Infinity
  }

  /** Drops rows among the changes between two revisions. */
  private batch(from: Revision, floor: Revision): Batch {
    const revisions: Revision[] = []
    let bytes = 0
    let seen = 0
    for (const { rv, t, prv, size } of this.statements.changesToDrop(from, floor)) {
      if (prv !== null) revisions.push(prv)
      if (t === DELETED) revisions.push(rv)
      bytes += size
      if (++seen >= BATCH.changes || revisions.length >= BATCH.rows || bytes >= BATCH.bytes)
        return { revisions, upTo: rv }
    }
    return { revisions, upTo: floor }
  }

  private drop({ revisions, upTo }: Batch, from: Revision, floor: Revision): void {
    const { log, statements } = this
    this.transact(() => {
      if (revisions.length > 0) statements.deleteVersions(revisions)
      if (log.floor < floor) statements.setMeta('floor', floor)
      if (upTo === floor) {
        statements.setMeta('clean', floor)
        statements.setMeta('compacted', this.now())
      } else if (statements.meta('clean') === 0) statements.setMeta('clean', from)
    })
    log.floor = floor
  }
}

interface Batch {
  readonly revisions: readonly Revision[]
  /** The next batch begins here. */
  readonly upTo: Revision
}
