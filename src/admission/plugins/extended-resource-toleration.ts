import type { Container, Toleration } from '../../api/core/v1.ts'
import { isExtended } from '../../validation/pod/resources.ts'
import type { AdmissionPlugin } from '../attributes.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

/**
 * ExtendedResourceToleration: a pod that requests a device tolerates the taint of nodes that are reserved for the
 * device.
 */
export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') && isOfPods(attributes),
  admit(attributes) {
    const spec = (podOf(attributes).spec ??= {})
    const asked = (containers: readonly Container[] = []): string[] =>
      containers.flatMap(({ resources }) => Object.keys(resources?.requests ?? {})).filter(isExtended)
    const keys = new Set([...asked(spec.containers), ...asked(spec.initContainers)])
    const tolerated = new Set((spec.tolerations ?? []).filter(isWhole).map(({ key }) => key))
    const added = [...keys].filter((key) => !tolerated.has(key)).sort()
    if (added.length > 0)
      spec.tolerations = [
        ...(spec.tolerations ?? []),
        ...added.map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' })),
      ]
  },
}

/** The form of the added tolerations. */
const isWhole = ({ operator, effect }: Toleration): boolean => operator === 'Exists' && effect === 'NoSchedule'
