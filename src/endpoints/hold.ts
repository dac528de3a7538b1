/** Keeps compaction from what a request has yet to read, however long it takes. */
import type { Clock } from '../api/clock.ts'
import { logError } from '../log/log.ts'
import { forEachShard } from '../storage/for-each-shard.ts'
import type { Revision, ShardName, Storage } from '../storage/storage.ts'

/** A shard keeps the state for so long after it was last asked to. */
const HOLD_MS = 600_000
const RENEW_MS = 240_000
/** Milliseconds after which a request is no reason any more to keep the past: it fails where it needs that. */
const LONGEST_MS = 12 * 3_600_000

const notHeld = (error: unknown): void => logError('old versions could not be held', { error })

export class Hold {
  private readonly holder = crypto.randomUUID()
  private stop = (): void => {}

  private constructor(
    private readonly storage: Pick<Storage, 'hold'>,
    private readonly revision: Revision,
    private readonly shards: readonly ShardName[],
  ) {}

  static async begin(
    storage: Pick<Storage, 'hold'>,
    revision: Revision,
    shards: readonly ShardName[],
    clock: Clock,
  ): Promise<Hold> {
    const hold = new Hold(storage, revision, shards)
    const began = clock()
    await hold.ask(HOLD_MS)
    const timer = setInterval(() => {
      if (clock() - began < LONGEST_MS) void hold.ask(HOLD_MS).catch(notHeld)
    }, RENEW_MS)
    hold.stop = () => clearInterval(timer)
    return hold
  }

  /**
   * A shard that misses this call releases its hold when the time is over.
   * @param milliseconds for which it is held still
   */
  async end(milliseconds = 0): Promise<void> {
    this.stop()
    await this.ask(milliseconds).catch(notHeld)
  }

  private ask(milliseconds: number): Promise<void> {
    const { storage, holder, revision } = this
    return forEachShard(this.shards, (shard) => storage.hold(shard, holder, revision, milliseconds))
  }
}
