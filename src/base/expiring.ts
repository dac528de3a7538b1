/** Values that count for a while, such as answers of other servers. */
import { isRecent } from './clock.ts'

export interface Expiring<Value> {
  readonly value: Value
  /** Milliseconds since 1970. */
  readonly since: number
  /** For so many milliseconds it counts. */
  readonly lifetime: number
}

export const expiring = <Value>(value: Value, now: number, lifetime: number): Expiring<Value> => ({
  value,
  since: now,
  lifetime,
})

/** Undefined where the time of the value is over, and where the clock was set back since. */
export const unexpired = <Value>(found: Expiring<Value> | undefined, now: number): Value | undefined =>
  found !== undefined && isRecent(found.since, now, found.lifetime) ? found.value : undefined
