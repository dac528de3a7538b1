/** How fast nodes of a zone are given up (kube-controller-manager's zone states and eviction rates, at its defaults). */
import type { Node } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import { eachPart, kept } from '../../api/parts.ts'
import { PLANNED } from '../in-turns.ts'

/** No zone gives nodes up more often. */
export const NODE_EVERY_MS = 10_000
const NODE_OF_AILING_ZONE_EVERY_MS = 100_000
const LARGE_ZONE = 50
const UNHEALTHY = 0.55

export function zoneOf({ metadata }: KubeObject): string {
  const label = (name: string): string => ownValue(metadata.labels, `topology.kubernetes.io/${name}`) ?? ''
  return JSON.stringify([label('region'), label('zone')])
}

/** Nodes that are left out when it is judged how many are ill. */
const counts = ({ metadata }: KubeObject): boolean =>
  ownValue(metadata.labels, 'node.kubernetes.io/exclude-disruption') === undefined

/**
 * @param isWell a node that is ready, and was heard of in time
 * @returns milliseconds between two nodes of the zone; undefined: none is given up
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
  // no node is ready: more likely this server is cut off
  if (well === 0) return undefined
  if (ill < ofZone && ill > 2 && ill / ofZone >= UNHEALTHY)
    return ofZone > LARGE_ZONE ? NODE_OF_AILING_ZONE_EVERY_MS : undefined
  return NODE_EVERY_MS
}
