/**
 * Refuses writes to a shard whose disk failed at the last write, for a while. Each attempt would end the shard's
 * object, and its readers and watchers would have to start again. So only a write now and then tests the disk.
 */
import { BoundedMap } from '../../base/bounded-map.ts'
import { isRecent } from '../../base/clock.ts'
import type { StorageErrorCode } from '../errors.ts'

/** Milliseconds between attempts. The pause doubles after each. */
const FIRST = 500
const LONGEST = 5_000
/** Milliseconds after which a failure is forgotten where no write was tried since. */
const FORGOTTEN = 60_000
/** Shards that are remembered; with more, the oldest failure is forgotten. */
const MAX_SHARDS = 10_000

interface Pause {
  readonly code: StorageErrorCode
  readonly length: number
  /** When it began, in milliseconds since 1970. */
  readonly since: number
}

export class WritePause {
  private readonly pauses = new BoundedMap<string, Pause>({ entries: MAX_SHARDS })

  constructor(private readonly now: () => number) {}

  /** @returns whether the shard was not known to fail */
  failed(shard: string, code: StorageErrorCode): boolean {
    const isNews = !this.isFailing(shard)
    const { length = FIRST } = this.pauses.get(shard) ?? {}
    this.pauses.set(shard, { code, length, since: this.now() })
    return isNews
  }

  /** Names of shards that have failed lately. */
  failing(): string[] {
    return this.pauses.keys().filter((shard) => this.isFailing(shard))
  }

  worked(shard: string): void {
    this.pauses.delete(shard)
  }

  /** Whether reads should avoid writing to the disk. */
  isFailing(shard: string): boolean {
    const pause = this.pauses.get(shard)
    return pause !== undefined && isRecent(pause.since, this.now(), pause.length + FORGOTTEN)
  }

  /**
   * The error for a write; undefined where the write may be tried. While a shard fails, one caller at a time gets
   * undefined.
   */
  refusal(shard: string): StorageErrorCode | undefined {
    const pause = this.pauses.get(shard)
    if (pause === undefined) return undefined
    const now = this.now()
    if (isRecent(pause.since, now, pause.length)) return pause.code
    const length = Math.min(pause.length * 2, LONGEST)
    this.pauses.set(shard, { code: pause.code, length, since: now })
    return undefined
  }
}
