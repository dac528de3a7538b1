/** Milliseconds since 1970. */
export type Clock = () => number

/**
 * The platform's clock. It is read where a request or an alarm begins and where state of the isolate is made; all else
 * is given a clock. test/check/clocks.ts knows the places.
 */
export const platformClock: Clock = () => Date.now()
