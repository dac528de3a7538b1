/**
 * The work that a shard does by itself, by alarm and after commits: expiry, compaction, delivery of its outbox, and the
 * end of its database.
 */
import type { Clock } from '../src/base/clock.ts'
import { logError } from '../src/log/log.ts'
import type { AlarmClock } from './alarm-clock.ts'
import type { Compactor } from './compactor.ts'
import type { DatabaseRemoval } from './database-removal.ts'
import type { Expiry } from './expiry.ts'
import type { Log } from './log.ts'
import type { Outbox } from './outbox.ts'
import type { RestoreLock } from './restore-lock.ts'

const TIDY_AGAIN = 60_000
/**
 * Milliseconds after which an alarm delivers the outbox again, for the case that the instance ended before the
 * delivery.
 */
const DELIVER_AGAIN = 300_000
/** Milliseconds. A later retry is left to the alarm, because a timer keeps the object awake. */
const LAST_TIMER = 10_000

interface Parts {
  readonly log: Pick<Log, 'retention'>
  readonly lock: Pick<RestoreLock, 'isHeld'>
  readonly compactor: Compactor
  readonly expiry: Expiry
  readonly outbox: Outbox
  readonly removal: DatabaseRemoval
  readonly alarms: AlarmClock
  readonly now: Clock
}

export class Housekeeping {
  /** @param name `TENANT/SHARD` */
  constructor(
    private readonly name: string,
    private readonly parts: Parts,
  ) {}

  /** The alarm rang: does all work that is due. */
  async rang(): Promise<void> {
    const { lock, compactor, expiry, outbox, removal, alarms, now } = this.parts
    alarms.rang()
    if (lock.isHeld) return
    // first, while no later call is the object's latest event
    const retryAfter = await outbox.deliver()
    if (retryAfter !== undefined) alarms.wakeAt(now() + retryAfter)
    try {
      await expiry.run()
      await compactor.run()
      await removal.run()
      if (removal.isDone) return
      alarms.wakeAt(compactor.due())
      alarms.wakeAt(expiry.due())
      alarms.wakeAt(removal.due())
    } catch (error) {
      // the platform would repeat the alarm six times and then never again
      logError('a shard could not be tidied up', { shard: this.name, error })
      alarms.wakeAt(now() + TIDY_AGAIN)
    }
  }

  /**
   * Sets the alarm for the work that a commit brings.
   * @param replaces the commit replaced or deleted a version
   * @param hasWork it stored work for controllers
   */
  wakeAfter(replaces: boolean, hasWork: boolean): void {
    const { log, compactor, expiry, alarms, now } = this.parts
    if (hasWork) alarms.wakeAt(now() + Math.min(log.retention, DELIVER_AGAIN))
    if (replaces) alarms.wakeAt(now() + log.retention)
    alarms.wakeAt(compactor.isPressed ? now() : expiry.dueOfNew())
  }

  /** Sets the alarm for the end of the database, after the control shard has forgotten this shard. */
  wakeAfterRetirement(): void {
    this.parts.alarms.wakeAt(this.parts.removal.due())
  }

  /**
   * After a failure nothing is written, since that might fail too. The write has already set the alarm. It rings at once
   * where this event may call nobody.
   */
  async deliver(): Promise<void> {
    const { lock, outbox, alarms, now } = this.parts
    if (lock.isHeld) return
    const retryAfter = await outbox.deliver()
    if (retryAfter === 0) alarms.wakeAt(now())
    else if (retryAfter !== undefined && retryAfter <= LAST_TIMER) setTimeout(() => void this.deliver(), retryAfter)
  }
}
