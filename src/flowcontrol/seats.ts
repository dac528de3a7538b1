/**
 * Decides which requests are served at once (API Priority and Fairness). Every priority level has seats, and may use
 * empty seats that other levels lend. A request that finds no seat waits in a queue, or is refused. While seats are
 * free, a request costs a few additions and awaits nothing. `used` is the sum, over all levels, of what each has
 * taken or keeps for itself: `max(taken, lower)`. Within `lower` a seat is always there. Beyond it there is one while
 * `used` is less than `total`.
 */
import { turnOfOthers } from '../base/slices.ts'
import { settledByOthers } from '../base/settled-by-others.ts'
import type { LevelLimits } from './level-limits.ts'
import { WaitingLine } from './waiting-line.ts'

/** Milliseconds after which a seat counts as empty: the engine may drop a request without notice. */
const LOST_AFTER = 60_000
/** From this many taken seats on, each request checks whether the oldest are lost. */
const MANY = 128
/** Seats are scarce where a quarter of them is taken. */
const SCARCE = 4

export type Refusal = 'concurrency-limit' | 'queue-full' | 'time-out'

export interface Seat {
  readonly level: PriorityLevel
  /** Milliseconds since 1970. */
  readonly since: number
  /** Called when the seat is left. */
  onLeave?: () => void
}

interface Waiter {
  take(seat: Seat): void
}

export class PriorityLevel {
  taken = 0
  readonly waiting = new WaitingLine<Waiter>()

  constructor(
    readonly name: string,
    public limits: LevelLimits,
  ) {}

  get lower(): number {
    return this.limits.kind === 'limited' ? this.limits.lower : 0
  }

  get nominal(): number {
    return this.limits.kind === 'limited' ? this.limits.nominal : 0
  }
}

export class Seats {
  /** Bound: the existing PriorityLevelConfigurations, and deleted ones with requests in progress. */
  private readonly levels = new Map<string, PriorityLevel>()
  /** The oldest first. Bound: MANY, or the requests in progress and those that the engine dropped within LOST_AFTER. */
  private readonly taken = new Set<Seat>()
  private used = 0
  private total = 0
  private waiting = 0

  constructor(private readonly now: () => number) {}

  configure(limits: ReadonlyMap<string, LevelLimits>, total: number): void {
    this.total = total
    for (const [name, level] of this.levels)
      if (!limits.has(name) && level.taken === 0 && level.waiting.length === 0) this.levels.delete(name)
    for (const [name, of] of limits) {
      const level = this.levels.get(name)
      if (level === undefined) this.levels.set(name, new PriorityLevel(name, of))
      else level.limits = of
    }
    this.used = [...this.levels.values()].reduce((sum, level) => sum + heldBy(level), 0)
    this.dispatch()
  }

  level(name: string): PriorityLevel | undefined {
    return this.levels.get(name)
  }

  get all(): readonly PriorityLevel[] {
    return [...this.levels.values()]
  }

  /**
   * @param flow identifies the request's flow; a level shares its queues among flows
   * @param patience milliseconds to wait at most
   */
  take(level: PriorityLevel, flow: () => string, patience: number): Seat | Promise<Seat | Refusal> | Refusal {
    if (level.waiting.length === 0 && this.hasSeat(level)) return this.sit(level)
    this.reclaimLost()
    if (level.waiting.length === 0 && this.hasSeat(level)) return this.sit(level)
    const queuing = level.limits.kind === 'limited' ? level.limits.queuing : undefined
    if (queuing === undefined) return 'concurrency-limit'
    const { promise: seat, resolve: take } = settledByOthers<Seat>()
    const waiter = { take }
    if (!level.waiting.join(flow(), queuing, waiter)) return 'queue-full'
    this.waiting++
    return this.seatInTime(level, waiter, seat, patience)
  }

  /** Whether the loss of seats would soon be felt. */
  isScarce({ limits, taken }: PriorityLevel): boolean {
    return limits.kind === 'limited' && (taken * SCARCE > limits.nominal || this.taken.size * SCARCE > this.total)
  }

  /** The taken seats of all levels. */
  get count(): number {
    return this.taken.size
  }

  leave(seat: Seat): void {
    if (!this.taken.delete(seat)) return
    const { level, onLeave } = seat
    onLeave?.()
    if (--level.taken >= level.lower && level.limits.kind === 'limited') this.used--
    if (this.waiting > 0) this.dispatch(level)
  }

  private seatInTime(
    level: PriorityLevel,
    waiter: Waiter,
    seat: Promise<Seat>,
    patience: number,
  ): Promise<Seat | Refusal> {
    let timer: ReturnType<typeof setTimeout>
    const tooLong = new Promise<Refusal>((resolve) => {
      timer = setTimeout(() => {
        const { length } = level.waiting
        level.waiting.leave(waiter)
        // a waiter that has its seat is served already
        if (level.waiting.length === length) return
        this.waiting--
        resolve('time-out')
      }, patience)
    })
    return Promise.race([seat.then(afterOthers), tooLong]).finally(() => clearTimeout(timer))
  }

  private hasSeat({ taken, limits }: PriorityLevel): boolean {
    if (limits.kind === 'exempt' || taken < limits.lower) return true
    return this.used < this.total && taken < limits.upper
  }

  private sit(level: PriorityLevel): Seat {
    if (this.taken.size >= MANY) this.reclaimLost()
    if (level.taken++ >= level.lower && level.limits.kind === 'limited') this.used++
    const seat: Seat = { level, since: this.now() }
    this.taken.add(seat)
    return seat
  }

  /**
   * Gives free seats to waiters: first to those of levels that have less than their share, so that lent seats come
   * back although their borrower wants more; then to those of the level that left a seat.
   */
  private dispatch(first?: PriorityLevel): void {
    if (this.waiting === 0) return
    for (const level of this.levels.values()) this.dispatchIn(level, level.nominal)
    if (first !== undefined) this.dispatchIn(first)
    for (const level of this.levels.values()) this.dispatchIn(level)
  }

  /** @param most seats that the level then has at most */
  private dispatchIn(level: PriorityLevel, most = Infinity): void {
    while (level.waiting.length > 0 && level.taken < most && this.hasSeat(level)) {
      this.waiting--
      level.waiting.next()!.take(this.sit(level))
    }
  }

  /**
   * Frees the seats that were taken longer than LOST_AFTER ago. Requests do so where seats are scarce; counting seats
   * does so always.
   */
  reclaimLost(): void {
    const before = this.now() - LOST_AFTER
    for (const seat of this.taken) {
      if (seat.since > before) return
      this.leave(seat)
    }
  }
}

/**
 * A request that waited goes on when the engine has read what has arrived meanwhile. The local engine reads nothing as
 * long as calls between objects go on. So without this a whole queue of one level would be served, each request by the
 * seat of the one before, ahead of a request of another level that nobody has read yet.
 */
async function afterOthers(seat: Seat): Promise<Seat> {
  await turnOfOthers()
  return seat
}

const heldBy = ({ taken, lower, limits }: PriorityLevel): number =>
  limits.kind === 'exempt' ? 0 : Math.max(taken, lower)
