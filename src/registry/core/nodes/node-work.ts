/** Which writes of nodes are work for workload controllers. */
import type { Node } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'
import type { Workloads } from '../../../settings/schema.ts'
import type { Change, Work, WorkloadRule } from '../../work/work.ts'
import { keyOf } from '../../work/work.ts'
import { isSimulated } from '../../../api/simulated-node.ts'

function nodesWork({ object, old }: Change, mode: Workloads): readonly Work[] {
  if (mode !== 'simulated' || object === undefined) return []
  // a node without its label loses its simulated devices
  const simulated = [object, old].some((node) => node !== undefined && isSimulated(node))
  return [
    ...(simulated ? [{ topic: 'simulated-node', payload: keyOf(object) } as const] : []),
    { topic: 'scheduler', payload: '' },
  ]
}

/** Compares the fields of a node that DaemonSets depend on. */
function daemonsWork({ object, old }: Change): readonly Work[] {
  const [now, before] = [object, old].map((node: Node | undefined) => node && [node.metadata.labels, node.spec?.taints])
  if (JSON.stringify(now) === JSON.stringify(before)) return []
  return [{ topic: 'daemon-set-node', payload: (object ?? old)?.metadata.name ?? '' }]
}

/** A key of `selected-pods`: the nodes of a zone changed. */
export const NODES_OF_ZONES = 'nodes'

/** Compares the fields of a node from which the distribution of endpoints over zones follows. */
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

/** The controllers check the heartbeats of the node, and evict pods that do not tolerate its taints. */
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

/** Work after a node is deleted, or after a user sets the out-of-service taint. */
function strandingWork({ object, old }: Change): readonly Work[] {
  const node: Node | undefined = object
  if (node === undefined) return old === undefined ? [] : [{ topic: 'node-gone', payload: keyOf(old) }]
  const isOut = node.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') === true
  return isOut ? [{ topic: 'pod-gc', payload: keyOf(node) }] : []
}

/** This annotation says for how many seconds a kubelet may cache ConfigMaps and Secrets. */
export const NODE_TTL = 'node.alpha.kubernetes.io/ttl'

/** The TTL depends on the number of nodes, and each node has it in its annotation. */
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
