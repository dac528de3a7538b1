/** The plug-ins of kube-scheduler's default profile, in their order. */
import type { Profile } from './framework.ts'
import { dynamicResources } from './plugins/dynamic-resources.ts'
import { imageLocality } from './plugins/image-locality.ts'
import { interPodAffinity } from './plugins/inter-pod-affinity.ts'
import { nodeAffinity, nodeName, nodePorts, nodeUnschedulable, taintToleration } from './plugins/node-filters.ts'
import { balancedAllocation, resourcesFit } from './plugins/resources.ts'
import { podTopologySpread } from './plugins/topology-spread.ts'
import { nodeVolumeLimits } from './plugins/volume-limits.ts'
import { volumeBinding, volumeRestrictions, volumeZone } from './plugins/volumes.ts'

export const DEFAULT_SCHEDULER = 'default-scheduler'

export const defaultProfile: Profile = {
  schedulerName: DEFAULT_SCHEDULER,
  filters: [
    nodeUnschedulable,
    nodeName,
    taintToleration,
    nodeAffinity,
    nodePorts,
    resourcesFit,
    volumeRestrictions,
    nodeVolumeLimits,
    volumeBinding,
    volumeZone,
    podTopologySpread,
    interPodAffinity,
    dynamicResources,
  ],
  scores: [
    taintToleration,
    nodeAffinity,
    resourcesFit,
    podTopologySpread,
    interPodAffinity,
    dynamicResources,
    balancedAllocation,
    imageLocality,
  ],
}
