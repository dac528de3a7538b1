/**
 * Values in kube-apiserver's error texts: JSON of its internal types. These have no JSON tags, so that all fields
 * appear, with their names in Go. Metadata and label selectors have the same types in the internal version and in v1.
 */
import type { Json, JsonObject, ObjectMeta } from '../../api/object.ts'
import type { PodTemplateSpec } from '../../api/core/v1.ts'
import type { LabelSelector } from '../../api/meta/v1.ts'
import { ownValue, setOwn } from '../../base/own.ts'
import { sortedKeys } from '../../base/name-order.ts'
import { eachName, kept, mapParts } from '../../base/parts.ts'
import { sentField } from '../../schema/emptied.ts'
import { sortedMap } from '../sorted-map.ts'
import { canonical } from '../../codec/encode/encode.ts'
import { builtInType } from '../../schema/built-in.ts'
import type { SpecialName, Structural, StructType } from '../../schema/structural.ts'

/** @param type OpenAPI model name of the external type */
export const internalJson = (type: string, value: object): Json => structJson(builtInType(type), value as JsonObject)

/** A selector in error texts: the absent fields of a requirement are empty values. */
export const selectorJson = (selector: LabelSelector): Json =>
  sharedJson(builtInType(LABEL_SELECTOR), selector as JsonObject)

/** Metadata in error texts, in the order of Go's fields. */
export const metadataJson = (metadata: ObjectMeta): Json =>
  // metadata is JSON
  sharedJson(builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), metadata as JsonObject)

const LABEL_SELECTOR = 'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector'

/** The JSON of a type that the internal version and v1 share. */
const sharedJson = (type: StructType, value: JsonObject): Json => kept(value, () => canonical(type, value))

export const templateLabelsJson = ({ metadata = {} }: PodTemplateSpec): Json =>
  labelsJson(sentField(metadata, 'labels'))

/** Labels in error texts: sorted, null where absent. */
export const labelsJson = (labels: Readonly<Record<string, string>> | undefined): Json =>
  labels === undefined ? null : sortedMap(labels)

function jsonOf(type: Structural, value: Json | undefined, pointer: boolean): Json {
  if (type.shape === 'struct') {
    if (value === undefined && pointer) return null
    return isShared(type)
      ? sharedJson(type, (value ?? {}) as JsonObject)
      : structJson(type, (value ?? {}) as JsonObject)
  }
  if (type.shape === 'list')
    return value === undefined
      ? null
      : mapParts(value as Json[], (item) => jsonOf(type.element, item, false), membersOf(type.element))
  if (type.shape === 'map') {
    if (value === undefined) return null
    const map = value as JsonObject
    const shown = kept(map, (): JsonObject => ({}))
    eachName(map, sortedKeys, (key) => setOwn(shown, key, jsonOf(type.value, ownValue(map, key), false)))
    return shown
  }
  if (value !== undefined) return value
  if (pointer || isBytes(type)) return null
  if (type.shape === 'leaf') return type.scalar === 'string' ? '' : type.scalar === 'bool' ? false : 0
  return type.shape === 'special' ? (zeroTexts[type.special] ?? null) : null
}

const zeroTexts: Readonly<Partial<Record<SpecialName, Json>>> = { quantity: '0', intOrString: 0 }

const isBytes = (type: Structural) => type.shape === 'leaf' && type.scalar === 'bytes'

const isShared = ({ name }: StructType) => name.startsWith('io.k8s.apimachinery.')

/**
 * The weight of a value in a walk (base/parts.ts): the number of its fields, because the JSON has absent fields, too.
 */
const membersOf = (type: Structural): number => (type.shape === 'struct' ? Math.max(1, type.fields.length) : 1)

function structJson(type: StructType, value: JsonObject): JsonObject {
  const shown: JsonObject = {}
  const names = goNamesOf(type)
  for (const [at, field] of type.fields.entries()) {
    if (field.name === 'metadata' && field.type.shape === 'struct')
      // own key: fields of ObjectMeta
      Object.assign(shown, sharedJson(field.type, (value.metadata ?? {}) as JsonObject))
    else if (!isMoved(type, field.name))
      setOwn(shown, names[at]!, jsonOf(field.type, sentField(value, field.name), field.pointer))
  }
  if (type.name === 'io.k8s.api.core.v1.PodSpec') return podSpecJson(shown, value)
  if (type.name === 'io.k8s.api.core.v1.PersistentVolumeSpec') return inOrder(shown, volumeSpecOrder)
  return ordered(shown, ownValue(orders, type.name))
}

/** Types whose internal version has its fields in another order. */
const orders: Readonly<Record<string, readonly string[]>> = {
  'io.k8s.api.core.v1.Volume': `Name HostPath EmptyDir GCEPersistentDisk AWSElasticBlockStore GitRepo Secret NFS ISCSI
    Glusterfs PersistentVolumeClaim RBD Quobyte FlexVolume Cinder CephFS Flocker DownwardAPI FC AzureFile ConfigMap
    VsphereVolume AzureDisk PhotonPersistentDisk Projected PortworxVolume ScaleIO StorageOS CSI Ephemeral
    Image`.split(/\s+/),
}

const ordered = (shown: JsonObject, order: readonly string[] | undefined): JsonObject =>
  order === undefined ? shown : Object.fromEntries(order.map((name) => [name, ownValue(shown, name) ?? null]))

const hostFields = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers']
/** Fields that are in the security context of the internal pod spec, or absent from it. */
const isMoved = ({ name }: StructType, field: string) =>
  name === 'io.k8s.api.core.v1.PodSpec' && (hostFields.includes(field) || field === 'serviceAccount')

const podSpecOrder = `Volumes InitContainers Containers EphemeralContainers RestartPolicy TerminationGracePeriodSeconds
  ActiveDeadlineSeconds DNSPolicy NodeSelector ServiceAccountName AutomountServiceAccountToken NodeName SecurityContext
  ImagePullSecrets Hostname Subdomain SetHostnameAsFQDN Affinity SchedulerName Tolerations HostAliases
  PriorityClassName Priority PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName Overhead EnableServiceLinks
  TopologySpreadConstraints OS SchedulingGates ResourceClaims Resources HostnameOverride SchedulingGroup`.split(/\s+/)
const contextOrder = `SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot SupplementalGroups
  SupplementalGroupsPolicy FSGroup FSGroupChangePolicy Sysctls SeccompProfile AppArmorProfile
  SELinuxChangePolicy`.split(/\s+/)

function podSpecJson(shown: JsonObject, spec: JsonObject): JsonObject {
  const context = shown.SecurityContext as JsonObject | null
  if (context !== null)
    shown.SecurityContext = {
      HostNetwork: spec.hostNetwork ?? false,
      HostPID: spec.hostPID ?? false,
      HostIPC: spec.hostIPC ?? false,
      ShareProcessNamespace: spec.shareProcessNamespace ?? null,
      HostUsers: spec.hostUsers ?? null,
      ...Object.fromEntries(contextOrder.map((field) => [field, ownValue(context, field) ?? null])),
    }
  return Object.fromEntries(podSpecOrder.map((field) => [field, ownValue(shown, field) ?? null]))
}

const volumeSpecOrder = `Capacity GCEPersistentDisk AWSElasticBlockStore HostPath Glusterfs NFS RBD Quobyte ISCSI
  FlexVolume Cinder CephFS FC Flocker AzureFile VsphereVolume AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO Local
  StorageOS CSI AccessModes ClaimRef PersistentVolumeReclaimPolicy StorageClassName MountOptions VolumeMode NodeAffinity
  VolumeAttributesClassName`.split(/\s+/)

const inOrder = (shown: JsonObject, order: readonly string[]): JsonObject =>
  Object.fromEntries(order.map((field) => [field, ownValue(shown, field) ?? null]))

/** Go's names of JSON fields that have another Go name in other types. The pattern matches the type's name. */
const goNamesIn: readonly (readonly [type: RegExp, names: Readonly<Record<string, string>>])[] = [
  [/GCEPersistentDisk/, { pdName: 'PDName' }],
  [/RBD/, { monitors: 'CephMonitors', image: 'RBDImage', pool: 'RBDPool', user: 'RadosUser' }],
  [
    /ISCSI/,
    {
      iqn: 'IQN',
      iscsiInterface: 'ISCSIInterface',
      chapAuthDiscovery: 'DiscoveryCHAPAuth',
      chapAuthSession: 'SessionCHAPAuth',
    },
  ],
  [/FCVolume/, { wwids: 'WWIDs' }],
  [/AzureDisk/, { diskURI: 'DataDiskURI' }],
  [/Glusterfs/, { endpoints: 'EndpointsName' }],
  [/ScaleIO/, { sslEnabled: 'SSLEnabled' }],
]

/** Go's names of the fields of each built-in type. */
const namesByType = new WeakMap<StructType, readonly string[]>()

function goNamesOf(type: StructType): readonly string[] {
  let names = namesByType.get(type)
  if (names === undefined) namesByType.set(type, (names = type.fields.map(({ name }) => goNameIn(type, name))))
  return names
}

const goNameIn = ({ name }: StructType, field: string): string =>
  ownValue(goNamesIn.find(([type, names]) => type.test(name) && Object.hasOwn(names, field))?.[1], field) ??
  goName(field)

/** JSON fields whose Go name is not just the JSON name with a capital. */
const goNames: Readonly<Record<string, string>> = {
  apiGroup: 'APIGroup',
  apiGroups: 'APIGroups',
  apiVersion: 'APIVersion',
  apiVersions: 'APIVersions',
  awsElasticBlockStore: 'AWSElasticBlockStore',
  caBundle: 'CABundle',
  cel: 'CEL',
  cephfs: 'CephFS',
  cidr: 'CIDR',
  cidrs: 'CIDRs',
  csi: 'CSI',
  dnsConfig: 'DNSConfig',
  dnsPolicy: 'DNSPolicy',
  fc: 'FC',
  fsGroup: 'FSGroup',
  fsGroupChangePolicy: 'FSGroupChangePolicy',
  fsGroupPolicy: 'FSGroupPolicy',
  fsType: 'FSType',
  gcePersistentDisk: 'GCEPersistentDisk',
  gid: 'GID',
  gmsaCredentialSpec: 'GMSACredentialSpec',
  gmsaCredentialSpecName: 'GMSACredentialSpecName',
  grpc: 'GRPC',
  http: 'HTTP',
  httpGet: 'HTTPGet',
  httpHeaders: 'HTTPHeaders',
  ip: 'IP',
  ipBlock: 'IPBlock',
  ipFamilies: 'IPFamilies',
  ipFamilyPolicy: 'IPFamilyPolicy',
  ipMode: 'IPMode',
  ips: 'IPs',
  iscsi: 'ISCSI',
  jsonPatch: 'JSONPatch',
  nfs: 'NFS',
  os: 'OS',
  osImage: 'OSImage',
  pkixPublicKey: 'PKIXPublicKey',
  qosClass: 'QOSClass',
  rbd: 'RBD',
  seLinuxChangePolicy: 'SELinuxChangePolicy',
  seLinuxMount: 'SELinuxMount',
  seLinuxOptions: 'SELinuxOptions',
  storageos: 'StorageOS',
  tcpSocket: 'TCPSocket',
  tls: 'TLS',
  ttlSecondsAfterFinished: 'TTLSecondsAfterFinished',
  tty: 'TTY',
  uid: 'UID',
  url: 'URL',
}

const goName = (name: string): string => ownValue(goNames, name) ?? name.charAt(0).toUpperCase() + name.slice(1)
