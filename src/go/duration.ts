/** The seconds that a time.Duration can hold. */
const MOST_SECONDS = 9_223_372_036

/** Milliseconds of time.Second times this many. A Duration has 64 bits of nanoseconds: a larger one wraps around. */
export function durationOf(seconds: number | bigint): number {
  if (typeof seconds === 'number' && Math.abs(seconds) <= MOST_SECONDS) return seconds * 1000
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
}
