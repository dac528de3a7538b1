/**
 * Changes after which the scheduler tries an unschedulable pod again (kube-scheduler's queueing hints), for each
 * plug-in that refused it.
 */
import { ownValue } from '../../api/own.ts'

export type ClusterEvent =
  | 'NodeAdded'
  | 'NodeChanged'
  | 'NodeGone'
  | 'PodAssigned'
  /** Another label, or less that it asks for. */
  | 'AssignedPodChanged'
  | 'AssignedPodGone'
  | 'VolumeChanged'
  | 'DeviceChanged'

const NODES = ['NodeAdded', 'NodeChanged'] as const
const PODS = ['PodAssigned', 'AssignedPodChanged', 'AssignedPodGone'] as const

const hints: Readonly<Record<string, readonly ClusterEvent[]>> = {
  NodeUnschedulable: NODES,
  TaintToleration: NODES,
  NodeAffinity: NODES,
  NodePorts: [...NODES, 'AssignedPodGone'],
  NodeResourcesFit: [...NODES, 'AssignedPodGone', 'AssignedPodChanged', 'DeviceChanged'],
  PodTopologySpread: [...NODES, ...PODS, 'NodeGone'],
  InterPodAffinity: [...NODES, ...PODS],
  VolumeRestrictions: [...NODES, 'AssignedPodGone', 'VolumeChanged'],
  NodeVolumeLimits: [...NODES, 'AssignedPodGone', 'VolumeChanged'],
  VolumeBinding: [...NODES, 'VolumeChanged'],
  VolumeZone: [...NODES, 'VolumeChanged'],
  DynamicResources: [...NODES, 'DeviceChanged'],
  NodeDeclaredFeatures: NODES,
}

/** A plug-in that is not known here may be helped by anything. */
export function isHelped(refusedBy: ReadonlySet<string>, events: ReadonlySet<ClusterEvent>): boolean {
  if (events.size === 0) return false
  if (refusedBy.size === 0) return true
  // few: the plug-ins of a profile, and the changes that help each
  return [...refusedBy].some((plugin) => (ownValue(hints, plugin) ?? [...events]).some((event) => events.has(event)))
}
