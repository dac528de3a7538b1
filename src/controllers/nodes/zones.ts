/**
 * How fast kube-controller-manager evicts the nodes of a zone: its zone states and eviction rates, with their defaults.
 */
import type { Node } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { eachPart, kept } from '../../base/parts.ts'
import { PLANNED } from '../work/in-turns.ts'

/** Milliseconds between two evictions in a healthy zone. No zone evicts nodes faster. */
export const NODE_EVERY_MS = 10_000
const NODE_OF_AILING_ZONE_EVERY_MS = 100_000
const LARGE_ZONE = 50
const UNHEALTHY = 0.55

export function zoneOf({ metadata }: KubeObject): string {
  const label = (name: string): string => ownValue(metadata.labels, `topology.kubernetes.io/${name}`) ?? ''
  return JSON.stringify([label('region'), label('zone')])
}

/** Whether the node counts when the controller computes the share of unhealthy nodes. */
const counts = ({ metadata }: KubeObject): boolean =>
  ownValue(metadata.labels, 'node.kubernetes.io/exclude-disruption') === undefined

/**
 * @param isWell whether the node is ready and its last heartbeat is recent
 * @returns milliseconds between the evictions of two nodes of the zone; undefined: no eviction
 */
export function evictionPause(
  nodes: readonly (KubeObject & Node)[],
  zone: string,
  isWell: (node: KubeObject & Node) => boolean,
): number | undefined {
  const counted = kept(nodes, () => ({ well: 0, ofZone: 0, illOfZone: 0 }))
  const count = (node: KubeObject & Node): void => {
    if (!counts(node)) return
    const isOfZone = zoneOf(node) === zone
    const isIll = !isWell(node)
    if (!isIll) counted.well++
    if (isOfZone) counted.ofZone++
    if (isOfZone && isIll) counted.illOfZone++
  }
  eachPart(nodes, count, PLANNED)
  const { well, ofZone, illOfZone: ill } = counted
  // no node is ready: probably the network of this server is cut off
  if (well === 0) return undefined
  if (ill < ofZone && ill > 2 && ill / ofZone >= UNHEALTHY)
    return ofZone > LARGE_ZONE ? NODE_OF_AILING_ZONE_EVERY_MS : undefined
  return NODE_EVERY_MS
}
