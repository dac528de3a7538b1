/**
 * Sends the writes that a Durable Object begins in one turn, or in successive turns, to one shard in one call. A call
 * costs more than a write, and each call is a commit that waits for the disk. Writes that begin during a call go in
 * the next one. Each write has its own outcome. Requests do not use it: the engine ends a request whose client hangs
 * up, and with it the shared call.
 */
import type { ShardStub } from './shard-client.ts'
import type { Attempt, ShardReply, ShardWrite, Written } from './shard-protocol.ts'
import type { TurnBudget } from './turn-budget.ts'

/** Writes in one call. Their commit is one step of the shard, some milliseconds long. */
const MOST = 16
/** UTF-16 units of the values in one call, which may have 32 MiB. */
const LONGEST = 4 * 1024 * 1024

interface Waiting {
  readonly stub: () => ShardStub
  readonly write: ShardWrite
  readonly resolve: (reply: ShardReply<Written>) => void
  readonly reject: (error: unknown) => void
}

export class WritesTogether {
  /** @param depthOfCall the last parameter of a call: see call-depth.ts */
  constructor(
    private readonly budget: Pick<TurnBudget, 'call' | 'nextTurn'>,
    private readonly depthOfCall: () => [depth?: number] = () => [],
  ) {}

  /** The writes for the next call, by attempt and shard. Bound: the writes that controllers have in progress. */
  private readonly open = new Map<string, Waiting[]>()

  send(shard: string, stub: () => ShardStub, write: ShardWrite, attempt: Attempt): Promise<ShardReply<Written>> {
    const key = `${attempt} ${shard}`
    return new Promise((resolve, reject) => {
      const one = { stub, write, resolve, reject }
      const line = this.open.get(key)
      if (line !== undefined) return line.push(one)
      this.open.set(key, [one])
      return void this.serve(key, attempt)
    })
  }

  /** Makes one call after the other, until no write waits. */
  private async serve(key: string, attempt: Attempt): Promise<void> {
    const line = this.open.get(key)!
    while (line.length > 0) {
      await this.gathered(line)
      await this.answer(line.splice(0, fitting(line)), attempt)
    }
    this.open.delete(key)
  }

  /** Resolves when a turn brought no more writes, because writers begin a few in each turn. */
  private async gathered(line: readonly Waiting[]): Promise<void> {
    for (let seen = 0; seen < line.length && line.length < MOST;) {
      seen = line.length
      await this.budget.nextTurn()
    }
  }

  /** @returns when the call has ended */
  private async answer(waiting: readonly Waiting[], attempt: Attempt): Promise<void> {
    const writes = waiting.map(({ write }) => write)
    try {
      // the commits of several shards fall in turns of their own
      const replies = await this.budget.call(
        async () =>
          await waiting
            .at(-1)!
            .stub()
            .writeTogether(writes, attempt, ...this.depthOfCall()),
      )
      for (const [at, { resolve }] of waiting.entries()) resolve(replies[at]!)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
      // until then the writers have forgotten the stub
      await this.budget.nextTurn()
    }
  }
}

/** The number of waiting writes that fit one call: at least one. */
function fitting(line: readonly Waiting[]): number {
  let count = 0
  for (let length = 0; count < Math.min(line.length, MOST); count++) {
    length += line[count]!.write.value.text.length
    if (count > 0 && length > LONGEST) break
  }
  return count
}
