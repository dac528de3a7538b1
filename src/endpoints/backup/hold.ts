/** Keeps versions that a request has yet to read from compaction, however long the request takes. */
import type { Clock } from '../../base/clock.ts'
import { logError } from '../../log/log.ts'
import { forEachShard } from '../../storage/shards/for-each-shard.ts'
import type { Revision, ShardName, Storage } from '../../storage/storage.ts'

/** Milliseconds for which a shard holds the versions after each call. */
const HOLD_MS = 600_000
const RENEW_MS = 240_000
/** Milliseconds after which a request no longer renews its holds. It fails if it then needs an old version. */
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
   * Ends the hold. A shard that misses this call ends it when its time is over.
   * @param milliseconds for which the shards still hold
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
