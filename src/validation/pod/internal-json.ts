/**
 * Values as the reference shows them in errors: its internal types, which have no JSON names, so that Go's names of the
 * fields stand there and every field does. Metadata and label selectors are the same types inside and outside.
 */
import type { Json, JsonObject } from '../../api/object.ts'
import { builtInType } from '../../schema/built-in.ts'
import type { Structural, StructType } from '../../schema/structural.ts'

/** @param type OpenAPI model name of the external type */
export const internalJson = (type: string, value: object): Json => structJson(builtInType(type), value as JsonObject)

function jsonOf(type: Structural, value: Json | undefined, pointer: boolean): Json {
  if (type.shape === 'struct') {
    if (value === undefined && pointer) return null
    return isShared(type) ? (value ?? {}) : structJson(type, (value ?? {}) as JsonObject)
  }
  if (type.shape === 'list')
    return value === undefined ? null : (value as Json[]).map((item) => jsonOf(type.element, item, false))
  if (type.shape === 'map')
    return value === undefined
      ? null
      : Object.fromEntries(
          Object.entries(value as JsonObject)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, item]) => [key, jsonOf(type.value, item, false)]),
        )
  if (value !== undefined) return value
  if (pointer) return null
  if (type.shape === 'leaf') return type.scalar === 'string' ? '' : type.scalar === 'bool' ? false : 0
  return type.shape === 'special' && (type.special === 'quantity' || type.special === 'intOrString') ? '0' : null
}

const isShared = ({ name }: StructType) => name.startsWith('io.k8s.apimachinery.')

function structJson(type: StructType, value: JsonObject): JsonObject {
  const shown: JsonObject = {}
  for (const field of type.fields) {
    if (field.name === 'metadata') Object.assign(shown, value.metadata)
    else if (!isMoved(type, field.name))
      shown[goName(field.name)] = jsonOf(field.type, value[field.name], field.pointer)
  }
  if (type.name === 'io.k8s.api.core.v1.PodSpec') return podSpecJson(shown, value)
  return shown
}

const hostFields = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers']
/** What the internal pod spec has in its security context, or not at all. */
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
      ...Object.fromEntries(contextOrder.map((field) => [field, context[field] ?? null])),
    }
  return Object.fromEntries(podSpecOrder.map((field) => [field, shown[field] ?? null]))
}

/** Go writes these differently than the first letter in upper case. */
const goNames: Readonly<Record<string, string>> = {
  apiGroup: 'APIGroup',
  apiGroups: 'APIGroups',
  apiVersion: 'APIVersion',
  awsElasticBlockStore: 'AWSElasticBlockStore',
  cephfs: 'CephFS',
  csi: 'CSI',
  dnsConfig: 'DNSConfig',
  dnsPolicy: 'DNSPolicy',
  fc: 'FC',
  fsGroup: 'FSGroup',
  fsGroupChangePolicy: 'FSGroupChangePolicy',
  fsType: 'FSType',
  gcePersistentDisk: 'GCEPersistentDisk',
  grpc: 'GRPC',
  httpGet: 'HTTPGet',
  httpHeaders: 'HTTPHeaders',
  ip: 'IP',
  iscsi: 'ISCSI',
  nfs: 'NFS',
  os: 'OS',
  rbd: 'RBD',
  seLinuxChangePolicy: 'SELinuxChangePolicy',
  seLinuxOptions: 'SELinuxOptions',
  storageos: 'StorageOS',
  tcpSocket: 'TCPSocket',
  tty: 'TTY',
  uid: 'UID',
}

const goName = (name: string): string => goNames[name] ?? name.charAt(0).toUpperCase() + name.slice(1)
