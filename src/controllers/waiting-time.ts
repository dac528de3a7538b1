/**
 * How often to look again at an object that waits for its finalizers to be removed. The longer it has waited, the more
 * seldom: nobody knows whether that will ever happen, and in between the control plane sleeps.
 */
const SHORTEST_MS = 1_000
/** As seldom as kube-controller-manager's queues retry. */
const LONGEST_MS = 1_000_000
/** Of the time that was waited until now. */
const PART = 1 / 16

/** Milliseconds from now on. */
export function untilNextLook(deletionTimestamp: string, now: Date, shortest = SHORTEST_MS): number {
  const waited = now.getTime() - Date.parse(deletionTimestamp)
  return Math.min(Math.max(shortest, Math.round(waited * PART)), LONGEST_MS)
}
