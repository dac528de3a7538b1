/**
 * How long a failed pod of a DaemonSet stays on its node: a kubelet that refuses a pod must not get new ones all the
 * time. This isolate keeps the delays in memory; after a loss they begin anew.
 */
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { DaemonSet } from '../../../api/apps/v1.ts'

const SHORTEST_MS = 1_000
const LONGEST_MS = 900_000

interface Backoff {
  readonly since: number
  readonly delay: number
}

/** The back-off for each tenant, set, generation and node. */
const backoffs = new BoundedMap<string, Backoff>({ entries: 10_000 })

interface Asked {
  readonly set: DaemonSet
  readonly now: Date
}

/** Milliseconds until the removal; 0 counts as a removal, so that the next one waits longer. @param tenant its uid */
export function untilRemoval(tenant: string, { set, now }: Asked, node: string): number {
  const key = `${tenant}/${set.metadata.uid}/${set.status?.observedGeneration ?? 0}/${node}`
  const known = backoffs.get(key)
  const at = now.getTime()
  const isOld = known === undefined || at - known.since > 2 * LONGEST_MS
  if (!isOld && at - known.since < known.delay) return known.since + known.delay - at
  backoffs.set(key, { since: at, delay: isOld ? SHORTEST_MS : Math.min(known.delay * 2, LONGEST_MS) })
  return 0
}
