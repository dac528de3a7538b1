/**
 * Deletes Events that were not written for some time (--event-ttl of kube-apiserver, an hour by default). A revision
 * contains its time, so the oldest objects are at the beginning of the log. No column or index is needed to find them.
 */
import type { History } from '../src/storage/history.ts'
import { revisionAt, timeOf } from '../src/storage/revisions/revision.ts'
import { beginRun } from './invocation.ts'
import type { Log, WriteOutcome } from './log.ts'
import type { Statements } from './statements.ts'

/** Objects deleted in one turn. */
const BATCH = 64
/** Milliseconds that an object may live longer, so that many expire together, as with kube-apiserver's leases. */
const SLACK = 60_000

export class Expiry {
  /** The last run ended before it was done. */
  private hasMore = false

  /** @param write makes a write like any other */
  constructor(
    private readonly log: Log,
    private readonly statements: Statements,
    private readonly history: History,
    private readonly write: (write: () => WriteOutcome) => Promise<WriteOutcome>,
    private readonly now: () => number,
    private readonly yieldToWriters: () => Promise<void>,
  ) {}

  /** When to run again; undefined when nothing expires. Milliseconds since 1970. */
  due(): number | undefined {
    const oldest = this.history.expiry === undefined ? 0 : this.statements.oldestRevision()
    if (oldest === 0) return undefined
    if (this.hasMore) return this.now()
    return Math.max(timeOf(oldest) + this.history.expiry!, this.now()) + SLACK
  }

  /** When an object that is written now expires. */
  dueOfNew(): number | undefined {
    return this.history.expiry === undefined ? undefined : this.now() + this.history.expiry + SLACK
  }

  async run(): Promise<void> {
    if (this.history.expiry === undefined) return
    const upTo = revisionAt(this.now() - this.history.expiry)
    const isOver = beginRun(this.now)
    for (let after = 0; ; await this.yieldToWriters()) {
      const expired = this.statements.current(after, upTo, BATCH)
      await Promise.all(expired.map(({ k, rv }) => this.write(() => this.log.expire(k, rv))))
      this.hasMore = expired.length === BATCH
      if (!this.hasMore || isOver()) return
      after = expired.at(-1)!.rv
    }
  }
}
