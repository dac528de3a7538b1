/**
 * The line in which heavy steps of an isolate wait for their turn: the flows take turns, and in a flow the work that
 * began first is done first. Nobody is woken. Each waiter looks for itself, again and again, so a request that the
 * engine drops blocks no other: who does not look any more is taken out by the others.
 */

/** Work that has heavy steps. */
export interface HeavyWork {
  /** Whose work it is. */
  readonly flow: string
  /** Its place among the works of all flows: they are numbered as they begin. */
  readonly number: number
}

/** Of so many flows as many look in each turn, and about as many of all others in a millisecond. */
const FEW = 8
/** Milliseconds. */
const LONGEST_PAUSE = 250

export interface Waiting extends HeavyWork {
  /** The looks of all waiters up to its last one, and up to the one before that. */
  looked: number
  lookedBefore: number
  isInLine: boolean
}

export class HeavyLine {
  /** The flow first whose turn it is. Bound: requests that wait, and those that were dropped since anybody waited. */
  private readonly flows = new Map<string, Waiting[]>()
  private looks = 0
  private length = 0

  join({ flow, number }: HeavyWork): Waiting {
    const waiting = { flow, number, looked: this.looks, lookedBefore: this.looks, isInLine: true }
    this.insert(waiting)
    return waiting
  }

  /** Looks whether it is a waiter's turn. Each waiter looks once in a turn of the engine. */
  isNext(waiting: Waiting): boolean {
    if (!waiting.isInLine) this.insert(waiting)
    const twoLooksAgo = waiting.lookedBefore
    waiting.lookedBefore = waiting.looked
    waiting.looked = ++this.looks
    for (;;) {
      const first = this.first()
      if (first === waiting) return true
      // it had two turns of the engine in which to look
      if (first === undefined || first.looked >= twoLooksAgo) return false
      this.remove(first)
    }
  }

  /** Milliseconds until a waiter has to look again: where many wait, most of them look seldom. */
  pauseOf(waiting: Waiting): number {
    let flows = 0
    for (const flow of this.flows.values()) {
      if (flow.lastIndexOf(waiting, FEW - 1) >= 0) return 0
      if (++flows === FEW) break
    }
    return Math.min(LONGEST_PAUSE, Math.floor(this.length / FEW))
  }

  /** The waiter's turn is over. Other flows come before its own. */
  leave(waiting: Waiting): void {
    this.remove(waiting)
    const others = this.flows.get(waiting.flow)
    if (others === undefined) return
    this.flows.delete(waiting.flow)
    this.flows.set(waiting.flow, others)
  }

  private first(): Waiting | undefined {
    for (const [first] of this.flows.values()) return first
    return undefined
  }

  private insert(waiting: Waiting): void {
    waiting.isInLine = true
    this.length++
    const flow = this.flows.get(waiting.flow)
    if (flow === undefined) {
      this.flows.set(waiting.flow, [waiting])
      return
    }
    const later = flow.findIndex(({ number }) => number > waiting.number)
    if (later < 0) flow.push(waiting)
    else flow.splice(later, 0, waiting)
  }

  private remove(waiting: Waiting): void {
    waiting.isInLine = false
    const flow = this.flows.get(waiting.flow)
    const at = flow?.indexOf(waiting) ?? -1
    if (at < 0) return
    this.length--
    if (flow!.length === 1) this.flows.delete(waiting.flow)
    else flow!.splice(at, 1)
  }
}
