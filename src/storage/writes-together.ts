/**
 * Sends the writes that a Durable Object begins in one turn, or in turns that follow each other, to one shard in one call.
 * A call costs more than a write, and is a commit of its own, which waits for the disk. So writes that come while a call is
 * under way go in the next one. Each write has its own outcome. Not for requests: the engine ends a request whose client
 * hangs up, and with it the shared call.
 */
import { turnOfOthers } from '../api/slices.ts'
import type { ShardStub } from './shard-client.ts'
import type { Attempt, ShardReply, ShardWrite, Written } from './shard-protocol.ts'

/** Writes of one call: its commit is one step of the shard, some milliseconds long. */
const MOST = 32
/** UTF-16 units of their values; a call may have 32 MiB. */
const LONGEST = 4 * 1024 * 1024
/** Writers that go on in one turn: each takes a millisecond or two before it waits again. */
const AT_ONCE = 4

interface Waiting {
  readonly stub: ShardStub
  readonly write: ShardWrite
  readonly resolve: (reply: ShardReply<Written>) => void
  readonly reject: (error: unknown) => void
}

export class WritesTogether {
  /** By attempt and shard, what the next call takes. Bound: what controllers have under way. */
  private readonly open = new Map<string, Waiting[]>()

  send(shard: string, stub: ShardStub, write: ShardWrite, attempt: Attempt): Promise<ShardReply<Written>> {
    const key = `${attempt} ${shard}`
    return new Promise((resolve, reject) => {
      const one = { stub, write, resolve, reject }
      const line = this.open.get(key)
      if (line !== undefined) return line.push(one)
      this.open.set(key, [one])
      return void this.serve(key, attempt)
    })
  }

  /** One call after the other, until nothing waits. */
  private async serve(key: string, attempt: Attempt): Promise<void> {
    const line = this.open.get(key)!
    while (line.length > 0) {
      await gathered(line)
      await answer(line.splice(0, fitting(line)), attempt)
    }
    this.open.delete(key)
  }
}

/** Ends when a turn brought no more writes: writers begin a few in each turn. */
async function gathered(line: readonly Waiting[]): Promise<void> {
  for (let seen = 0; seen < line.length && line.length < MOST;) {
    seen = line.length
    await turnOfOthers()
  }
}

/** How many of those who wait go in one call: at least one. */
function fitting(line: readonly Waiting[]): number {
  let count = 0
  for (let length = 0; count < Math.min(line.length, MOST); count++) {
    length += line[count]!.write.value.text.length
    if (count > 0 && length > LONGEST) break
  }
  return count
}

/** @returns when the call has ended: the writers go on after that, a few in one turn */
async function answer(waiting: readonly Waiting[], attempt: Attempt): Promise<void> {
  try {
    // each call has a stub that was just made
    const replies = await waiting.at(-1)!.stub.writeTogether(
      waiting.map(({ write }) => write),
      attempt,
    )
    void goOn(waiting, replies)
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

async function goOn(waiting: readonly Waiting[], replies: readonly ShardReply<Written>[]): Promise<void> {
  for (const [at, { resolve }] of waiting.entries()) {
    if (at > 0 && at % AT_ONCE === 0) await turnOfOthers()
    resolve(replies[at]!)
  }
}
