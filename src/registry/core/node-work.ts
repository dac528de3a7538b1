/** Which writes of nodes are work for the controllers of workloads. */
import type { Node } from '../../api/core/v1.ts'
import { ownValue } from '../../api/own.ts'
import type { Workloads } from '../../settings/schema.ts'
import type { Change, Work, WorkloadRule } from '../work.ts'
import { keyOf } from '../work.ts'
import { SIMULATED } from './simulated-node.ts'

function nodesWork({ object, old }: Change, mode: Workloads): readonly Work[] {
  if (mode !== 'simulated' || object === undefined) return []
  // a node that is gone gives up its devices
  const simulated = [object, old].some((node) => ownValue(node?.metadata.labels, SIMULATED) === 'true')
  return [
    ...(simulated ? [{ topic: 'simulated-node', payload: keyOf(object) } as const] : []),
    { topic: 'scheduler', payload: '' },
  ]
}

/** What of a node its daemons look at. */
function daemonsWork({ object, old }: Change): readonly Work[] {
  const [now, before] = [object, old].map((node: Node | undefined) => node && [node.metadata.labels, node.spec?.taints])
  if (JSON.stringify(now) === JSON.stringify(before)) return []
  return [{ topic: 'daemon-set-node', payload: (object ?? old)?.metadata.name ?? '' }]
}

/** A key of `selected-pods`: a zone's nodes changed. */
export const NODES_OF_ZONES = 'nodes'

/** What of a node counts for how endpoints are shared out by zones. */
function zonesWork({ object, old }: Change): readonly Work[] {
  const [now, before] = [object, old].map((node: Node | undefined) =>
    JSON.stringify([
      node?.metadata.labels,
      node?.status?.allocatable?.['cpu'],
      node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status,
    ]),
  )
  return now === before ? [] : [{ topic: 'selected-pods', payload: NODES_OF_ZONES }]
}

/** Nodes whose heartbeats are awaited, and nodes whose pods are to leave. */
function nodeHealthWork({ object, old }: Change): readonly Work[] {
  const payload = (object ?? old)?.metadata.name ?? ''
  const [taints, before] = [object, old].map((node: Node | undefined) =>
    JSON.stringify((node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')),
  )
  return [
    { topic: 'node-lifecycle', payload },
    ...(taints === before && object !== undefined ? [] : [{ topic: 'taint-eviction', payload } as const]),
  ]
}

/** A node that is deleted, or that a user tainted as out of service. */
function strandingWork({ object, old }: Change): readonly Work[] {
  const node: Node | undefined = object
  if (node === undefined) return old === undefined ? [] : [{ topic: 'node-gone', payload: keyOf(old) }]
  const isOut = node.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') === true
  return isOut ? [{ topic: 'pod-gc', payload: keyOf(node) }] : []
}

/** The annotation that says how many seconds a kubelet may keep ConfigMaps and Secrets. */
export const NODE_TTL = 'node.alpha.kubernetes.io/ttl'

/** The number of nodes, and the facts that they publish. */
function ttlWork({ object, old }: Change): readonly Work[] {
  const [now, before] = [object, old].map((node) => node && (ownValue(node.metadata.annotations, NODE_TTL) ?? 'none'))
  return now === before ? [] : [{ topic: 'node-ttl', payload: '' }]
}

export const nodeWork: readonly WorkloadRule[] = [
  nodesWork,
  daemonsWork,
  nodeHealthWork,
  strandingWork,
  zonesWork,
  ttlWork,
]
