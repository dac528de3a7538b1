/**
 * How often to check an object that waits for the removal of its finalizers. The interval grows with the time waited:
 * the removal may never happen, and the control plane sleeps between checks.
 */
const SHORTEST_MS = 1_000
/** The longest back-off of kube-controller-manager's queues. */
const LONGEST_MS = 1_000_000
/** The interval as a part of the time waited until now. */
const PART = 1 / 16

/** Milliseconds from now until the next check. */
export function untilNextLook(deletionTimestamp: string, now: Date, shortest = SHORTEST_MS): number {
  const waited = now.getTime() - Date.parse(deletionTimestamp)
  return Math.min(Math.max(shortest, Math.round(waited * PART)), LONGEST_MS)
}
