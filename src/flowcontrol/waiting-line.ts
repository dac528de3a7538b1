/** Requests of one priority level that wait for a seat. Queues take turns, so that each flow gets its share. */
import { BoundedMap } from '../base/bounded-map.ts'
import type { Queuing } from './level-limits.ts'
import { dealtQueues } from './shuffle-shard.ts'

export class WaitingLine<Waiter> {
  /** Queues that are not empty, by number. Bound: the level's `queues` times `queueLengthLimit`. */
  private readonly queues = new Map<number, Waiter[]>()
  private readonly hands = new BoundedMap<string, readonly number[]>({ entries: 1_000, size: 65_536, sizeOf: hand })
  length = 0

  /** @returns false where the shortest of the flow's queues is full */
  join(flow: string, { queues, handSize, queueLengthLimit }: Queuing, waiter: Waiter): boolean {
    const dealt = this.hands.getOrMake(`${queues}/${handSize}/${flow}`, () => dealtQueues(flow, queues, handSize))
    const lengthOf = (queue: number): number => this.queues.get(queue)?.length ?? 0
    const shortest = dealt.reduce((best, queue) => (lengthOf(queue) < lengthOf(best) ? queue : best))
    const queue = this.queues.get(shortest)
    if ((queue?.length ?? 0) >= queueLengthLimit) return false
    if (queue === undefined) this.queues.set(shortest, [waiter])
    else queue.push(waiter)
    this.length++
    return true
  }

  /** The first waiter of the next queue. That queue then goes behind the others. */
  next(): Waiter | undefined {
    for (const [number, queue] of this.queues) {
      const waiter = queue.shift()
      this.queues.delete(number)
      if (waiter === undefined) continue
      if (queue.length > 0) this.queues.set(number, queue)
      this.length--
      return waiter
    }
    return undefined
  }

  /** @returns whether it waited */
  leave(waiter: Waiter): boolean {
    for (const [number, queue] of this.queues) {
      const at = queue.indexOf(waiter)
      if (at < 0) continue
      queue.splice(at, 1)
      if (queue.length === 0) this.queues.delete(number)
      this.length--
      return true
    }
    return false
  }
}

const hand = (flow: string): number => flow.length
