/**
 * Runs the queues of the controllers side by side. Controllers whose work may take seconds, such as the emptying of a large
 * namespace, have queues apart, so that no other controller waits for it.
 */
import type { Clock } from '../src/base/clock.ts'
import type { Work, WorkTable } from './work-table.ts'

/** Work of one queue that is done at the same time. */
const TOGETHER = 8
/**
 * Rows of work of one queue that are read at a time. Finding due work reads all rows of its controllers: an index would
 * cost another written row for each work.
 */
const BATCH = 512
/** Work that is due within this many milliseconds needs no alarm. */
const NEAR_MS = 1_000

export class ControllerQueues {
  /** Work that was taken and has not begun, by queue. Bound: BATCH for each queue. */
  private readonly taken = new Map<string, Work[]>()
  /** Queues with work in progress. Bound: queues. */
  private readonly busy = new Set<string>()
  /** Ends the wait for a change. */
  private wake: () => void = () => {}
  /** When a timer wakes; undefined where none is set. */
  private wakesAt: number | undefined

  /** @param reconcile does work of one queue */
  constructor(
    private readonly table: WorkTable,
    private readonly now: Clock,
    private readonly reconcile: (works: readonly Work[]) => Promise<void>,
  ) {}

  /** Work has arrived. */
  arrived(): void {
    this.wake()
  }

  /**
   * Works until no work is due soon, or until the run is over. One run at a time.
   * @throws the first failure, when nothing is in progress any more
   */
  async run(isOver: () => boolean): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    const fail = (error: unknown): void => void (failure ??= { error })
    for (let ends = false; ; ends = failure !== undefined || isOver()) {
      if (!ends) this.begin(fail)
      if (this.busy.size === 0 && (ends || this.untilDue() > NEAR_MS)) break
      await this.change(ends)
    }
    // the next run takes it again
    if (this.taken.size > 0) this.table.mistrust()
    this.taken.clear()
    if (failure !== undefined) throw failure.error
  }

  /** Begins work of each queue that has work and none in progress. */
  private begin(fail: (error: unknown) => void): void {
    const waiting = [...this.taken.keys(), ...this.table.queuesDue()]
    for (const queue of waiting) {
      if (this.busy.has(queue)) continue
      const works = this.next(queue)
      if (works.length === 0) continue
      this.busy.add(queue)
      void this.reconcile(works)
        .catch(fail)
        .finally(() => {
          this.busy.delete(queue)
          this.wake()
        })
    }
  }

  private next(queue: string): Work[] {
    const taken = this.taken.get(queue) ?? this.table.due(queue, BATCH)
    const works = taken.splice(0, TOGETHER)
    if (taken.length > 0) this.taken.set(queue, taken)
    else this.taken.delete(queue)
    return works
  }

  /** Milliseconds until a queue without work in progress has work. */
  private untilDue(): number {
    return (this.table.nextDue(this.busy) ?? Infinity) - this.now()
  }

  /** Resolves when work has arrived or is due, or when a queue has ended its work. */
  private async change(ends: boolean): Promise<void> {
    const changed = new Promise<void>((resolve) => (this.wake = resolve))
    if (!ends) this.wakeWhenDue()
    await changed
  }

  /** Leaves a timer that is set, because the engine takes a millisecond for each timer of an object. */
  private wakeWhenDue(): void {
    const wait = this.untilDue()
    const at = this.now() + wait
    if (wait > NEAR_MS || (this.wakesAt ?? Infinity) <= at) return
    this.wakesAt = at
    setTimeout(() => {
      if (this.wakesAt === at) this.wakesAt = undefined
      this.wake()
    }, wait)
  }
}
