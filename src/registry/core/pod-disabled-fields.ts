/**
 * Fields of switched-off features are dropped without a word, unless the stored object uses them already
 * (kubernetes' pkg/api/pod DropDisabledPodFields).
 */
import type * as CoreV1 from '../../api/core/v1.ts'
import { path } from '../../api/field.ts'
import { visitContainers } from '../../validation/pod/visit-containers.ts'

type Enabled = (gate: string) => boolean

interface Feature {
  readonly gate: string
  isUsed(spec: CoreV1.PodSpec): boolean
  drop(spec: CoreV1.PodSpec): void
}

const containersOf = (spec: CoreV1.PodSpec) => visitContainers(spec, path('spec')).map(({ container }) => container)
const projectionsOf = (spec: CoreV1.PodSpec) =>
  (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])

const projection = (gate: string, field: 'clusterTrustBundle' | 'podCertificate'): Feature => ({
  gate,
  isUsed: (spec) => projectionsOf(spec).some((source) => source[field] !== undefined),
  drop: (spec) => projectionsOf(spec).forEach((source) => delete source[field]),
})

const ofSpec = (gate: string, field: 'schedulingGroup' | 'hostnameOverride' | 'resources'): Feature => ({
  gate,
  isUsed: (spec) => spec[field] !== undefined,
  drop: (spec) => delete spec[field],
})

const features: readonly Feature[] = [
  ofSpec('PodLevelResources', 'resources'),
  projection('ClusterTrustBundleProjection', 'clusterTrustBundle'),
  projection('PodCertificateRequest', 'podCertificate'),
  ofSpec('GenericWorkload', 'schedulingGroup'),
  {
    gate: 'ContainerRestartRules',
    isUsed: (spec) =>
      containersOf(spec).some(({ restartPolicyRules = [] }) => restartPolicyRules.length > 0) ||
      (spec.containers ?? []).some(({ restartPolicy }) => restartPolicy !== undefined),
    drop(spec) {
      for (const container of containersOf(spec)) delete container.restartPolicyRules
      for (const container of spec.containers ?? []) delete container.restartPolicy
    },
  },
  ofSpec('HostnameOverride', 'hostnameOverride'),
  {
    gate: 'EnvFiles',
    isUsed: (spec) =>
      containersOf(spec).some(({ env = [] }) => env.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined)),
    drop: (spec) =>
      containersOf(spec).forEach(({ env = [] }) => env.forEach(({ valueFrom }) => delete valueFrom?.fileKeyRef)),
  },
  {
    gate: 'ContainerStopSignals',
    isUsed: (spec) => containersOf(spec).some(({ lifecycle }) => lifecycle?.stopSignal !== undefined),
    drop(spec) {
      for (const container of containersOf(spec)) {
        const { lifecycle } = container
        if (lifecycle?.stopSignal === undefined) continue
        delete lifecycle.stopSignal
        if (lifecycle.postStart === undefined && lifecycle.preStop === undefined) delete container.lifecycle
      }
    },
  },
]

export function dropDisabledPodFields(
  spec: CoreV1.PodSpec | undefined,
  old: CoreV1.PodSpec | undefined,
  enabled: Enabled,
): void {
  if (spec === undefined) return
  for (const { gate, isUsed, drop } of features) if (!enabled(gate) && !(old !== undefined && isUsed(old))) drop(spec)
}

const statusesOf = (status: CoreV1.PodStatus) => [
  ...(status.containerStatuses ?? []),
  ...(status.initContainerStatuses ?? []),
  ...(status.ephemeralContainerStatuses ?? []),
]

interface StatusFeature {
  readonly gate: string
  isUsed(status: CoreV1.PodStatus): boolean
  drop(status: CoreV1.PodStatus): void
}

const statusFeatures: readonly StatusFeature[] = [
  {
    gate: 'ImageVolumeWithDigest',
    isUsed: (status) =>
      statusesOf(status).some(({ volumeMounts = [] }) =>
        volumeMounts.some(({ volumeStatus }) => volumeStatus?.image !== undefined),
      ),
    drop: (status) =>
      statusesOf(status).forEach(({ volumeMounts = [] }) => volumeMounts.forEach((mount) => delete mount.volumeStatus)),
  },
  {
    gate: 'ResourceHealthStatusMessage',
    isUsed: (status) =>
      statusesOf(status).some(({ allocatedResourcesStatus = [] }) =>
        allocatedResourcesStatus.some(({ resources = [] }) => resources.some(({ message }) => message !== undefined)),
      ),
    drop: (status) =>
      statusesOf(status).forEach(({ allocatedResourcesStatus = [] }) =>
        allocatedResourcesStatus.forEach(({ resources = [] }) =>
          resources.forEach((resource) => delete resource.message),
        ),
      ),
  },
  {
    gate: 'DRANodeAllocatableResources',
    isUsed: ({ nodeAllocatableResourceClaimStatuses = [] }) => nodeAllocatableResourceClaimStatuses.length > 0,
    drop: (status) => delete status.nodeAllocatableResourceClaimStatuses,
  },
]

export function dropDisabledPodStatus(status: CoreV1.PodStatus, old: CoreV1.PodStatus, enabled: Enabled): void {
  for (const { gate, isUsed, drop } of statusFeatures) if (!enabled(gate) && !isUsed(old)) drop(status)
}
