import { forbidden } from '../../api/status.ts'
import type { AdmissionPlugin } from '../attributes.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

const HOSTNAME = 'kubernetes.io/hostname'

/**
 * LimitPodHardAntiAffinityTopology: required anti-affinity of a pod applies to its node only, not to a larger
 * topology such as a zone.
 */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') && isOfPods(attributes),
  validate(attributes) {
    const { metadata, spec } = podOf(attributes)
    const terms = spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const other = terms.find(({ topologyKey }) => topologyKey !== HOSTNAME)
    if (other === undefined) return
    throw forbidden(
      attributes.resource,
      metadata.name ?? '',
      `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey ?? ''} but only key ${HOSTNAME} is allowed`,
    )
  },
}
