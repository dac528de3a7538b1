/** Milliseconds since 1970. */
export type Clock = () => number

/**
 * The platform's clock. Only code that begins a request or an alarm, or that creates state of the isolate, reads it.
 * All other code gets a clock as an argument. test/check/clocks.ts lists the allowed places.
 */
export const platformClock: Clock = () => Date.now()

/**
 * Whether `since` is less than `length` milliseconds ago. A time that is yet to come was noted before the clock was set
 * back. Nobody knows how long ago that was, so it is not recent.
 */
export const isRecent = (since: number, now: number, length: number): boolean => since <= now && now - since < length
