import { DurableObject } from 'cloudflare:workers'
import type { Env } from '../../src/env.ts'
import { platformClock } from '../../src/base/clock.ts'
import { CallDepth } from '../../src/storage/shards/call-depth.ts'
import { objectStorage } from '../../src/storage/shards/shard-client.ts'
import { TurnBudget } from '../../src/storage/shards/turn-budget.ts'
import type { Collection } from '../../src/storage/storage.ts'
import { valueOf } from '../storage-suite.ts'
import type { OutboxReceiver, OutboxRow } from '../../src/storage/shards/shard-protocol.ts'

/** Takes the place of the controllers, and keeps the rows that it receives. */
export class Recorder extends DurableObject<Env> implements OutboxReceiver {
  private readonly rows: string[][] = []
  private toRefuse = 0
  private refusals = 0
  private readonly depths: (number | undefined)[] = []
  private answersLeft = 0
  private answersTo: Collection | undefined

  async receive(shard: string, rows: readonly OutboxRow[], depth?: number): Promise<void> {
    if (this.toRefuse > 0) {
      this.toRefuse--
      this.refusals++
      throw new Error('not now')
    }
    this.depths.push(depth)
    if (this.answersLeft > 0) this.ctx.waitUntil(this.answer(depth))
    this.rows.push(...rows.map(({ key, topic, payload }) => [shard, key, topic, payload]))
  }

  /** Writes to the shard as controllers do, at the depth of the delivery. */
  private async answer(delivered: number | undefined): Promise<void> {
    const depth = new CallDepth(true)
    depth.called(delivered)
    const storage = objectStorage(this.env.SHARDS, platformClock, { turns: new TurnBudget(platformClock), depth })
    const name = `answer-${this.answersLeft--}`
    await storage.create(this.answersTo!, name, { ...valueOf(name, '1'), outbox: [{ topic: 'made', payload: name }] })
  }

  /** The next deliveries are answered by writes that bring work, one each. */
  async answerTo(collection: Collection, times: number): Promise<void> {
    this.answersTo = collection
    this.answersLeft = times
  }

  async depthsSeen(): Promise<(number | undefined)[]> {
    return this.depths
  }

  async refuse(times: number): Promise<void> {
    this.toRefuse = times
  }

  async refused(): Promise<number> {
    return this.refusals
  }

  async received(): Promise<string[][]> {
    return this.rows
  }
}
