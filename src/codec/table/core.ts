import type {
  ComponentStatus,
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
} from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { since } from './age.ts'
import { append } from '../../base/append.ts'
import { age, containerCells, labelsText, listWithMore, nameAndAge, nameOf, printer, sortedUnique } from './cells.ts'

export const podTemplatePrinter = printer<PodTemplate>((object) => [
  nameOf(object),
  ...containerCells(object.template?.spec?.containers),
  labelsText(object.template?.metadata?.labels),
])

export const replicationControllerPrinter = printer<ReplicationController>((object, now) => [
  nameOf(object),
  object.spec?.replicas ?? 0,
  object.status?.replicas ?? 0,
  object.status?.readyReplicas ?? 0,
  age(object, now),
  ...containerCells(object.spec?.template?.spec?.containers),
  labelsText(object.spec?.selector),
])

export const servicePrinter = printer<Service>((object, now) => [
  nameOf(object),
  object.spec?.type ?? '',
  object.spec?.clusterIPs?.[0] ?? '<none>',
  externalIp(object),
  servicePorts(object),
  age(object, now),
  labelsText(object.spec?.selector),
])

export const endpointsPrinter = printer<Endpoints>((object, now) => [
  nameOf(object),
  endpointsText(object),
  age(object, now),
])

export const namespacePrinter = printer<Namespace>((object, now) => [
  nameOf(object),
  object.status?.phase ?? '',
  age(object, now),
])

export const secretPrinter = printer<Secret>((object, now) => [
  nameOf(object),
  object.type ?? '',
  Object.keys(object.data ?? {}).length,
  age(object, now),
])

export const configMapPrinter = printer<ConfigMap>((object, now) => [
  nameOf(object),
  Object.keys(object.data ?? {}).length + Object.keys(object.binaryData ?? {}).length,
  age(object, now),
])

export const serviceAccountPrinter = nameAndAge

export const nodePrinter = printer<Node>((object, now) => {
  const { nodeInfo = {}, addresses = [] } = object.status ?? {}
  const address = (wanted: string) => addresses.find(({ type }) => type === wanted)?.address ?? '<none>'
  const architecture = nodeInfo.architecture ? ` (${nodeInfo.architecture})` : ''
  return [
    nameOf(object),
    nodeStatus(object),
    nodeRoles(object),
    age(object, now),
    nodeInfo.kubeletVersion ?? '',
    address('InternalIP'),
    address('ExternalIP'),
    nodeInfo.osImage || '<unknown>',
    `${nodeInfo.kernelVersion || '<unknown>'}${architecture}`,
    nodeInfo.containerRuntimeVersion || '<unknown>',
  ]
})

export const persistentVolumePrinter = printer<PersistentVolume>((object, now) => {
  const { metadata, spec = {}, status = {} } = object
  const { claimRef } = spec
  return [
    nameOf(object),
    spec.capacity?.storage ?? '0',
    accessModes(spec.accessModes),
    spec.persistentVolumeReclaimPolicy ?? '',
    metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
    claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`,
    storageClass(object, spec.storageClassName),
    spec.volumeAttributesClassName ?? '<unset>',
    status.reason ?? '',
    age(object, now),
    spec.volumeMode ?? '<unset>',
  ]
})

export const persistentVolumeClaimPrinter = printer<PersistentVolumeClaim>((object, now) => {
  const { metadata, spec = {}, status = {} } = object
  const isBound = !!spec.volumeName
  return [
    nameOf(object),
    metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
    spec.volumeName ?? '',
    isBound ? (status.capacity?.storage ?? '0') : '',
    isBound ? accessModes(status.accessModes) : '',
    storageClass(object, spec.storageClassName),
    spec.volumeAttributesClassName ?? '<unset>',
    age(object, now),
    spec.volumeMode ?? '<unset>',
  ]
})

export const resourceQuotaPrinter = printer<ResourceQuota>((object, now) => [
  nameOf(object),
  ...quotaCells(object),
  age(object, now),
])

export const eventPrinter = printer<Event>((object, now) => {
  const { involvedObject: target = {}, source = {}, series } = object
  const first = object.firstTimestamp ?? object.eventTime
  const kind = (target.kind ?? '').toLowerCase()
  const host = source.host || object.reportingInstance
  const component = source.component || (object.reportingComponent ?? '')
  return [
    since(series === undefined ? (object.lastTimestamp ?? first) : series.lastObservedTime, now),
    object.type ?? '',
    object.reason ?? '',
    target.name ? `${kind}/${target.name}` : kind,
    target.fieldPath ?? '',
    host ? `${component}, ${host}` : component,
    (object.message ?? '').trim(),
    since(first, now),
    series === undefined ? object.count || 1 : (series.count ?? 0),
    nameOf(object),
  ]
})

export const componentStatusPrinter = printer<ComponentStatus>((object) => {
  const healthy = object.conditions?.find(({ type }) => type === 'Healthy')
  if (healthy === undefined) return [nameOf(object), 'Unknown', '', '']
  const status = healthy.status === 'True' ? 'Healthy' : 'Unhealthy'
  return [nameOf(object), status, healthy.message ?? '', healthy.error ?? '']
})

function externalIp({ spec = {}, status = {} }: Service): string {
  const { externalIPs = [] } = spec
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.join(',') || '<none>'
    case 'LoadBalancer': {
      const balancer = ingressAddresses(status.loadBalancer?.ingress)
      return [...balancer, ...externalIPs].join(',') || '<pending>'
    }
    case 'ExternalName':
      return spec.externalName ?? ''
    default:
      return '<unknown>'
  }
}

/** The IP addresses of a load balancer, or host names where an entry has no IP address. */
export const ingressAddresses = (ingress: readonly { ip?: string; hostname?: string }[] = []): string[] =>
  sortedUnique(ingress.map(({ ip, hostname }) => ip || hostname || '').filter((address) => address !== ''))

const servicePorts = ({ spec = {} }: Service): string =>
  (spec.ports ?? [])
    .map(({ port = 0, nodePort = 0, protocol = '' }) =>
      nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
    )
    .join(',') || '<none>'

const MOST_ENDPOINTS = 3

/** Some thousand ports of some thousand addresses fit into one object, so only the first ones are put together. */
function endpointsText({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return '<none>'
  const shown: string[] = []
  let count = 0
  for (const { addresses = [], ports = [] } of subsets) {
    // headless Services may have no ports
    count += addresses.length * Math.max(ports.length, 1)
    const few = addresses.slice(0, MOST_ENDPOINTS)
    if (ports.length === 0)
      append(
        shown,
        few.map(({ ip = '' }) => ip),
      )
    for (const { port = 0 } of ports.slice(0, MOST_ENDPOINTS))
      append(
        shown,
        few.map(({ ip = '' }) => hostPort(ip, port)),
      )
    shown.length = Math.min(shown.length, MOST_ENDPOINTS)
  }
  return listWithMore(shown, count, MOST_ENDPOINTS)
}

const hostPort = (host: string, port: number): string =>
  host.includes(':') || host.includes('%') ? `[${host}]:${port}` : `${host}:${port}`

function nodeStatus({ spec = {}, status = {} }: Node): string {
  const ready = status.conditions?.findLast(({ type }) => type === 'Ready')
  const text = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return spec.unschedulable === true ? `${text},SchedulingDisabled` : text
}

const ROLE_PREFIX = 'node-role.kubernetes.io/'
const ROLE_LABEL = 'kubernetes.io/role'

function nodeRoles({ metadata }: Node): string {
  const roles = Object.entries(metadata.labels ?? {}).map(([key, value]) =>
    key.startsWith(ROLE_PREFIX) ? key.slice(ROLE_PREFIX.length) : key === ROLE_LABEL ? value : '',
  )
  return sortedUnique(roles.filter((role) => role !== '')).join(',') || '<none>'
}

const modeNames: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

const accessModes = (modes: readonly string[] = []): string =>
  modeNames
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')

const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class'

const storageClass = ({ metadata }: KubeObject, declared: string | undefined): string =>
  metadata.annotations?.[BETA_CLASS] ?? declared ?? ''

function quotaCells({ status = {} }: ResourceQuota): [requests: string, limits: string] {
  const { hard = {}, used = {} } = status
  const requests: string[] = []
  const limits: string[] = []
  for (const resource of Object.keys(hard).sort()) {
    const column = resource.startsWith('limits.') ? limits : requests
    column.push(`${resource}: ${ownValue(used, resource) ?? '0'}/${hard[resource]!}`)
  }
  return [requests.join(', '), limits.join(', ')]
}
