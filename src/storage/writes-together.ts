/**
 * Sends the writes that a Durable Object begins in one turn to one shard in one call, because a call costs more than a
 * write. Each has its own outcome. Not for requests: the engine ends a request whose client hangs up, and with it the
 * shared call.
 */
import { turnOfOthers } from '../api/slices.ts'
import type { ShardStub } from './shard-client.ts'
import type { Attempt, ShardReply, ShardWrite, Written } from './shard-protocol.ts'

/** Writes of one call. */
const MOST = 64
/** UTF-16 units of their values; a call may have 32 MiB. */
const LONGEST = 4 * 1024 * 1024
/** Writers that go on in one turn: each takes a millisecond or two before it waits again. */
const AT_ONCE = 4

interface Waiting {
  readonly write: ShardWrite
  readonly resolve: (reply: ShardReply<Written>) => void
  readonly reject: (error: unknown) => void
}

interface Batch {
  readonly waiting: Waiting[]
  length: number
}

export class WritesTogether {
  /** By attempt and shard. Bound: what is written in one turn. */
  private readonly open = new Map<string, Batch>()

  send(shard: string, stub: ShardStub, write: ShardWrite, attempt: Attempt): Promise<ShardReply<Written>> {
    const key = `${attempt} ${shard}`
    return new Promise((resolve, reject) => {
      const known = this.open.get(key)
      const { length } = write.value.text
      const hasRoom = known !== undefined && known.waiting.length < MOST && known.length + length <= LONGEST
      const batch = hasRoom ? known : this.begin(key, stub, attempt)
      batch.waiting.push({ write, resolve, reject })
      batch.length += length
    })
  }

  private begin(key: string, stub: ShardStub, attempt: Attempt): Batch {
    const batch: Batch = { waiting: [], length: 0 }
    this.open.set(key, batch)
    void turnOfOthers().then(() => {
      if (this.open.get(key) === batch) this.open.delete(key)
      return answer(batch.waiting, stub, attempt)
    })
    return batch
  }
}

async function answer(waiting: readonly Waiting[], stub: ShardStub, attempt: Attempt): Promise<void> {
  try {
    const replies = await stub.writeTogether(
      waiting.map(({ write }) => write),
      attempt,
    )
    for (const [at, { resolve }] of waiting.entries()) {
      if (at > 0 && at % AT_ONCE === 0) await turnOfOthers()
      resolve(replies[at]!)
    }
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}
