import { DurableObject } from 'cloudflare:workers'
import type { OutboxReceiver, OutboxRow } from '../../src/storage/shards/shard-protocol.ts'

/** Takes the place of the controllers, and keeps the rows that it receives. */
export class Recorder extends DurableObject implements OutboxReceiver {
  private readonly rows: string[][] = []
  private toRefuse = 0
  private refusals = 0

  async receive(shard: string, rows: readonly OutboxRow[]): Promise<void> {
    if (this.toRefuse > 0) {
      this.toRefuse--
      this.refusals++
      throw new Error('not now')
    }
    this.rows.push(...rows.map(({ key, topic, payload }) => [shard, key, topic, payload]))
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
