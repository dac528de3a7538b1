/**
 * Runs the queues of the controllers side by side. Controllers whose work may take seconds, such as the emptying of a large
 * namespace, have queues apart, so that no other controller waits for it. Users may make any work slow by large objects,
 * so the work of a namespace that took long is done apart for a while, one by one, and that of others goes on beside.
 * Work that takes long for the first time may be in the middle of a webhook's thirty seconds: its queue goes on without it.
 *
 * An instance that ended in the middle of a run may have ended because of its work, by memory or CPU time. So the work
 * that it left is tried one by one, and counts as failed until it is done: what ends the instance again comes less and
 * less often, and the rest is done.
 */
import { BoundedMap } from '../src/base/bounded-map.ts'
import type { Clock } from '../src/base/clock.ts'
import { leastOf } from '../src/base/extremes.ts'
import type { Work, WorkTable } from './work-table.ts'

/** Work of one queue that is done at the same time. */
const TOGETHER = 8
/**
 * Rows of work of one queue that are read at a time. Finding due work reads all rows of its controllers: an index would
 * cost another written row for each work.
 */
const BATCH = 512
/** Milliseconds that a work takes in a namespace whose work is done apart then. Its queue waits no longer for it. */
const SLOW_MS = 3_000
/** Overdue batches of a queue, which goes on without them. With more of them it waits. */
const MOST_OVERDUE = 3
/** Milliseconds for which it is. */
const APART_MS = 60_000
/** Work of a lane that waits apart. More of it comes again later. */
const MOST_APART = 64
/** The lane of the work that an ended instance left. */
const LEFT = 'left'
const LATER_MS = 5_000
/** Milliseconds for which work that has failed is tried alone after an instance ended in the middle of a run. */
const WARY_MS = 600_000
/** Work that is due within this many milliseconds needs no alarm. */
const NEAR_MS = 1_000

export interface Runs {
  /**
   * Does work of one queue.
   * @param overdue as in ControllerContext; absent: no queue waits for the work
   */
  reconcile(works: readonly Work[], overdue?: Promise<void>): Promise<void>
  /** Does work that may end the instance. The attempt is on disk before it begins. */
  tryAlone(work: Work): Promise<void>
  /** An instance ended in the middle of a run, and had work that was due until then. */
  readonly leftUntil?: number | undefined
}

/** Works of a queue that are done together. */
interface Batch {
  readonly queue: string
  readonly since: number
  /** Its works in progress, by name. */
  readonly open: Map<string, Work>
  /** Settles: when the queue goes on without it, or never. */
  readonly overdue: PromiseWithResolvers<void>
  /** The queue, which waits for it; of an overdue batch a lane of its own. */
  lane: string
}

interface Apart {
  readonly queue: string
  readonly work: Work
}

export class ControllerQueues {
  /** Work that was taken and has not begun, by queue. Bound: BATCH for each queue. */
  private readonly taken = new Map<string, Work[]>()
  /** Until when the work of a namespace is done apart. */
  private readonly slow = new BoundedMap<string, number>({ entries: 1_000 })
  /** Work that waits apart, by lane. Bound: MOST_APART for each queue, and once more. */
  private readonly apart = new Map<string, Apart[]>()
  /**
   * Names of work that waits apart or is in progress there, or in an overdue batch. Bound: as above, one for each lane, and
   * TOGETHER for each overdue batch.
   */
  private readonly held = new Set<string>()
  /** Bound: one for each queue, and MOST_OVERDUE. */
  private readonly batches = new Set<Batch>()
  /** Queues with work in progress, those with work in progress apart, and overdue batches. Bound: queues, and batches. */
  private readonly busy = new Set<string>()
  /** Ends the wait for a change. */
  private wake: () => void = () => {}
  /** When a timer wakes; undefined where none is set. */
  private wakesAt: number | undefined

  constructor(
    private readonly table: WorkTable,
    private readonly now: Clock,
    private readonly runs: Runs,
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
    if (this.taken.size > 0 || this.held.size > 0) this.table.mistrust()
    this.taken.clear()
    this.apart.clear()
    this.held.clear()
    if (failure !== undefined) throw failure.error
  }

  /** Begins work of each queue that has work and none in progress. */
  private begin(fail: (error: unknown) => void): void {
    for (const batch of this.batches) if (this.isOverdue(batch)) this.goOnWithout(batch)
    const waiting = [...this.taken.keys(), ...this.table.queuesDue()]
    for (const queue of waiting) {
      if (this.busy.has(queue)) continue
      const works = this.next(queue)
      if (works.length > 0) this.startBatch(queue, works, fail)
    }
    for (const [lane, waiting] of this.apart) {
      const next = this.busy.has(lane) ? undefined : waiting.shift()
      if (waiting.length === 0) this.apart.delete(lane)
      if (next === undefined) continue
      const { queue, work } = next
      const run = () => (lane === LEFT ? this.runs.tryAlone(work) : this.runs.reconcile([work]))
      this.start(lane, run, fail, () => {
        this.busy.delete(lane)
        this.letGo(queue, [nameOf(work)])
      })
    }
  }

  private startBatch(queue: string, works: readonly Work[], fail: (error: unknown) => void): void {
    const open = new Map(works.map((work) => [nameOf(work), work]))
    const overdue = Promise.withResolvers<void>()
    const batch: Batch = { queue, since: this.now(), open, overdue, lane: queue }
    this.batches.add(batch)
    const run = () => this.runs.reconcile(works, overdue.promise)
    this.start(queue, run, fail, () => {
      this.batches.delete(batch)
      this.busy.delete(batch.lane)
      if (batch.lane !== queue) this.letGo(queue, open.keys())
    })
  }

  private start(lane: string, run: () => Promise<void>, fail: (error: unknown) => void, ended: () => void): void {
    this.busy.add(lane)
    void run()
      .catch(fail)
      .finally(() => {
        ended()
        this.wake()
      })
  }

  /** Work that was held is over. It may have come again meanwhile. */
  private letGo(queue: string, names: Iterable<string>): void {
    for (const name of names) this.held.delete(name)
    this.table.lookAgain(queue)
    this.wake()
  }

  /** The queue of an overdue batch takes other work. */
  private goOnWithout(batch: Batch): void {
    const { queue, open } = batch
    this.busy.delete(queue)
    batch.lane = `${queue} overdue since ${batch.since}`
    this.busy.add(batch.lane)
    for (const [name, work] of open) {
      this.held.add(name)
      this.takesLong(work)
    }
    batch.overdue.resolve()
  }

  private isOverdue(batch: Batch): boolean {
    return this.overdueAt(batch) <= this.now()
  }

  /** Milliseconds until a queue goes on without a batch that other work waits for. */
  private untilOverdue(): number {
    const waiting = new Set([...this.taken.keys(), ...this.table.queuesDue()])
    const waited = [...this.batches].filter(({ queue }) => waiting.has(queue))
    return leastOf(waited.map((batch) => this.overdueAt(batch))) - this.now()
  }

  /** When its queue goes on without it: never where it does so already, or where it left too many behind. */
  private overdueAt({ queue, lane, since }: Batch): number {
    const others = [...this.batches].filter((one) => one.queue === queue && one.lane !== queue)
    return lane !== queue || others.length >= MOST_OVERDUE ? Infinity : since + SLOW_MS
  }

  /** Work is over that took so long. */
  took(work: Work, milliseconds: number): void {
    for (const { lane, queue, open } of this.batches)
      if (open.delete(nameOf(work)) && lane !== queue) this.letGo(queue, [nameOf(work)])
    if (milliseconds >= SLOW_MS) this.takesLong(work)
  }

  private takesLong({ key }: Work): void {
    const namespace = namespaceOf(key)
    if (namespace !== undefined) this.slow.set(namespace, this.now() + APART_MS)
  }

  private next(queue: string): Work[] {
    const taken = this.taken.get(queue) ?? this.table.due(queue, BATCH)
    const works: Work[] = []
    let isPutOff = false
    while (works.length < TOGETHER && taken.length > 0) {
      const work = taken.shift()!
      const place = this.placeOf(queue, work)
      if (place === 'here') works.push(work)
      if (place === 'later') {
        isPutOff = true
        this.table.putOff(work, LATER_MS)
      }
    }
    if (taken.length > 0) this.taken.set(queue, taken)
    else this.taken.delete(queue)
    // what was put off has hidden other work
    return works.length === 0 && isPutOff ? this.next(queue) : works
  }

  private placeOf(queue: string, work: Work): 'here' | 'apart' | 'later' {
    const name = nameOf(work)
    if (this.held.has(name)) return 'apart'
    const lane = this.isLeft(work) ? LEFT : this.isSlow(work) ? `${queue} apart` : undefined
    if (lane === undefined) return 'here'
    const waiting = this.apart.get(lane) ?? []
    if (waiting.length >= MOST_APART) return 'later'
    waiting.push({ queue, work })
    this.apart.set(lane, waiting)
    this.held.add(name)
    return 'apart'
  }

  /** Whether an ended instance left it, or it has failed and may end this one, too. */
  private isLeft({ due, attempts }: Work): boolean {
    const { leftUntil = -Infinity } = this.runs
    return due <= leftUntil || (attempts > 0 && this.now() <= leftUntil + WARY_MS)
  }

  private isSlow({ key }: Work): boolean {
    const namespace = namespaceOf(key)
    return namespace !== undefined && (this.slow.get(namespace) ?? 0) > this.now()
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
    const untilDue = this.untilDue()
    const wait = Math.min(untilDue > NEAR_MS ? Infinity : untilDue, this.untilOverdue())
    const at = this.now() + wait
    if (wait === Infinity || (this.wakesAt ?? Infinity) <= at) return
    this.wakesAt = at
    setTimeout(() => {
      if (this.wakesAt === at) this.wakesAt = undefined
      this.wake()
    }, wait)
  }
}

const nameOf = ({ controller, key }: Work): string => `${controller} ${key}`

/** Of a key NAMESPACE/NAME; undefined for keys of another form. */
const namespaceOf = (key: string): string | undefined => /^([a-z0-9-]{1,63})\//.exec(key)?.[1]
