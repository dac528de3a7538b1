/**
 * What waits for somebody to take off a finalizer is looked at again, and more seldom the longer it has waited: nobody
 * knows whether that will ever be, and in between the control plane sleeps.
 */
const SHORTEST_MS = 1_000
/** As seldom as kube-controller-manager's queues try what fails. */
const LONGEST_MS = 1_000_000
/** Of the time that was waited until now. */
const PART = 1 / 16

/** Milliseconds from now on. */
export function untilNextLook(deletionTimestamp: string, now: Date, shortest = SHORTEST_MS): number {
  const waited = now.getTime() - Date.parse(deletionTimestamp)
  return Math.min(Math.max(shortest, Math.round(waited * PART)), LONGEST_MS)
}
