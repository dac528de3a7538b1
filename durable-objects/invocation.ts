import type { Clock } from '../src/base/clock.ts'

/**
 * Milliseconds that an object works in one invocation. The platform ends an alarm after 15 minutes and an invocation
 * after 30 s of CPU time, drops what it was doing, and repeats an alarm six times at most. Work that takes longer sets
 * an alarm and ends, and the alarm goes on with the rest. Limits of Durable Objects:
 * https://developers.cloudflare.com/durable-objects/platform/limits/
 */
const INVOCATION_MS = 20_000

/**
 * Begins a run of work. The result says whether the run must end and leave the rest to an alarm. It is asked after each
 * step, so that every run makes progress.
 */
export function beginRun(now: Clock): () => boolean {
  const end = now() + INVOCATION_MS
  return () => now() >= end
}
