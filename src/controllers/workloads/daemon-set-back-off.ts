/**
 * How long failed pods of a DaemonSet on a node stay: a kubelet that refuses a pod is not asked all the time. Of this
 * isolate; where it is forgotten, the delay begins anew.
 */
import { BoundedMap } from '../../api/bounded-map.ts'
import type { DaemonSet } from '../../api/apps/v1.ts'

const SHORTEST_MS = 1_000
const LONGEST_MS = 900_000

interface Backoff {
  readonly since: number
  readonly delay: number
}

/** Nodes of sets. */
const backoffs = new BoundedMap<string, Backoff>({ entries: 10_000 })

interface Asked {
  readonly set: DaemonSet
  readonly now: Date
}

/** Milliseconds; 0 counts the removal, so that the next one waits for longer. @param tenant its uid */
export function untilRemoval(tenant: string, { set, now }: Asked, node: string): number {
  const key = `${tenant}/${set.metadata.uid}/${set.status?.observedGeneration ?? 0}/${node}`
  const known = backoffs.get(key)
  const at = now.getTime()
  const isOld = known === undefined || at - known.since > 2 * LONGEST_MS
  if (!isOld && at - known.since < known.delay) return known.since + known.delay - at
  backoffs.set(key, { since: at, delay: isOld ? SHORTEST_MS : Math.min(known.delay * 2, LONGEST_MS) })
  return 0
}
