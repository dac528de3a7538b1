/**
 * NodeRestriction: checks writes of a kubelet that the node authorizer cannot judge by the path alone. A kubelet may
 * write its own Node without labels that steer pods, mirror pods without references, the status of its pods, and
 * tokens for them.
 */
import type { TokenRequest } from '../../api/authentication/v1.ts'
import type { CertificateSigningRequest } from '../../api/certificates/v1.ts'
import type { CSIDriver } from '../../api/storage/v1.ts'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '../../api/core/v1.ts'
import { goQuote } from '../../go/quote.ts'
import { groupResourceText } from '../../api/group-version.ts'
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import type { ResourceSlice } from '../../api/resource/v1.ts'
import type { StatusError } from '../../api/status.ts'
import { notFound } from '../../api/status.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import { nodeOf } from '../../authorization/node.ts'
import { driverOfMigrated, driverOfMigratedVolume } from '../../registry/core/volumes/migrated-volumes.ts'
import { settingsOf } from '../../settings.ts'
import { aggregate } from '../../authorization/verdict.ts'
import { podReferences } from '../../authorization/pod-references.ts'
import { stringifySorted } from '../../json/write-json.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import { parseCertificateRequest } from '../../x509/certificate-request.ts'
import { fromBase64 } from '../../x509/pem.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden as refusal } from '../forbidden.ts'
import { MIRROR, podCertificateRequest } from './pod-certificate-request.ts'

export const nodeRestriction: AdmissionPlugin = {
  name: 'NodeRestriction',
  handles: ({ operation, user }) => operation !== 'CONNECT' && nodeOf(user) !== undefined,
  async admit(attributes) {
    const { user, resource } = attributes
    const node = nodeOf(user)!
    if (node === '') throw refusal(attributes, `could not determine node from user ${goQuote(user.name)}`)
    await ownValue(restrictions, groupResourceText(resource))?.(attributes, node)
  },
}

type Restriction = (attributes: Attributes, node: string) => void | Promise<void>

const restrictions: Readonly<Record<string, Restriction>> = {
  pods: podWrite,
  nodes: nodeWrite,
  persistentvolumeclaims: claimWrite,
  serviceaccounts: tokenRequest,
  'leases.coordination.k8s.io': leaseWrite,
  'certificatesigningrequests.certificates.k8s.io': certificateRequest,
  'podcertificaterequests.certificates.k8s.io': podCertificateRequest,
  'csinodes.storage.k8s.io': csiNodeWrite,
  'resourceslices.resource.k8s.io': resourceSliceWrite,
}

/** The error of a lister, which names the kind in lower case instead of the resource. */
const absent = (kind: string, name: string): StatusError => notFound({ group: '', resource: kind }, name)

const isOn = ({ request }: Attributes, gate: string): boolean => settingsOf(request.env).gates.enabled(gate)

/** The request's objects have the kind of its resource. */
const kinds = <O>({ object, oldObject }: Attributes) =>
  ({ object, old: oldObject }) as { object: (O & KubeObject) | undefined; old: (O & KubeObject) | undefined }

const sameJson = (a: unknown, b: unknown): boolean => textOf(a) === textOf(b)
// parts of objects are JSON; an empty list is the same as none
const textOf = (value: unknown): string =>
  value === undefined || (Array.isArray(value) && value.length === 0) ? '' : stringifySorted(value as Json)

async function podWrite(attributes: Attributes, node: string): Promise<void> {
  switch (attributes.subresource) {
    case '':
      return attributes.operation === 'CREATE' ? mirrorPod(attributes, node) : podDelete(attributes, node)
    case 'status':
      return podStatus(attributes, node)
    case 'eviction':
      return eviction(attributes, node)
    default:
      throw refusal(
        attributes,
        `unexpected pod subresource ${goQuote(attributes.subresource)}, only 'status' and 'eviction' are allowed`,
      )
  }
}

function podDelete(attributes: Attributes, node: string): void {
  const { operation } = attributes
  if (operation !== 'DELETE')
    throw refusal(
      attributes,
      `unexpected operation ${goQuote(operation)}, node ${goQuote(node)} can only create and delete mirror pods`,
    )
  if (kinds<Pod>(attributes).old?.spec?.nodeName !== node)
    throw refusal(attributes, `node ${goQuote(node)} can only delete pods with spec.nodeName set to itself`)
}

async function mirrorPod(attributes: Attributes, node: string): Promise<void> {
  const { object: pod } = kinds<Pod>(attributes)
  const who = `node ${goQuote(node)}`
  const { annotations = {}, ownerReferences = [] } = pod?.metadata ?? {}
  const refuse = (why: string): StatusError => refusal(attributes, why)
  if (annotations[MIRROR] === undefined)
    throw refuse(`pod does not have ${goQuote(MIRROR)} annotation, ${who} can only create mirror pods`)
  if (pod?.spec?.nodeName !== node) throw refuse(`${who} can only create pods with spec.nodeName set to itself`)
  if (ownerReferences.length > 1)
    throw refuse(`${who} can only create pods with a single owner reference set to itself`)
  const [owner] = ownerReferences
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    throw refuse(`${who} can only create pods with an owner reference set to itself`)
  if (owner.controller !== true)
    throw refuse(`${who} can only create pods with a controller owner reference set to itself`)
  if (owner.blockOwnerDeletion === true) throw refuse(`${who} must not set blockOwnerDeletion on an owner reference`)
  const found = await storedObject<Node>(attributes.request, NODES, node)
  if (found === undefined) throw absent('node', node)
  if (owner.uid !== found.metadata.uid)
    throw refuse(`node ${node} UID mismatch: expected ${owner.uid} got ${found.metadata.uid}`)
  const refersTo = referencedKind(pod)
  if (refersTo !== undefined) throw refuse(`${who} can not create pods that reference ${refersTo}`)
}

const NODES = { group: '', resource: 'nodes' }
const PODS = { group: '', resource: 'pods' }

/** The field for which a pod needs the API; undefined where it has none. */
function referencedKind(pod: Pod): string | undefined {
  const { serviceAccounts, secrets, configMaps } = podReferences(pod)
  if (serviceAccounts.size > 0) return 'serviceaccounts'
  if (secrets.size > 0) return 'secrets'
  if (configMaps.size > 0) return 'configmaps'
  if ((pod.spec?.resourceClaims ?? []).length > 0) return 'resourceclaims'
  for (const volume of pod.spec?.volumes ?? []) {
    const found = volumeReference(volume)
    if (found !== undefined) return found
  }
  return undefined
}

function volumeReference({ projected, ...volume }: Volume): string | undefined {
  if (volume.configMap !== undefined) return 'configmaps (via configmap volumes)'
  if (volume.secret !== undefined) return 'secrets (via secret volumes)'
  if (volume.csi !== undefined) return 'csidrivers (via CSI volumes)'
  if (volume.glusterfs !== undefined) return 'endpoints (via glusterFS volumes)'
  if (volume.persistentVolumeClaim !== undefined) return 'persistentvolumeclaims'
  if (volume.ephemeral !== undefined) return 'persistentvolumeclaims (via ephemeral volumes)'
  if (volume.azureFile !== undefined) return 'secrets (via azureFile volumes)'
  for (const source of projected?.sources ?? []) {
    if (source.configMap !== undefined) return 'configmaps (via projected volumes)'
    if (source.secret !== undefined) return 'secrets (via projected volumes)'
    if (source.serviceAccountToken !== undefined) return 'serviceaccounts (via projected volumes)'
    if (source.clusterTrustBundle !== undefined) return 'clustertrustbundles'
    if (source.podCertificate !== undefined) return 'podcertificates'
  }
  return undefined
}

function podStatus(attributes: Attributes, node: string): void {
  const { object, old } = kinds<Pod>(attributes)
  const who = `node ${goQuote(node)}`
  if (attributes.operation !== 'UPDATE')
    throw refusal(attributes, `unexpected operation ${goQuote(attributes.operation)}`)
  if (old?.spec?.nodeName !== node)
    throw refusal(attributes, `${who} can only update pod status for pods with spec.nodeName set to itself`)
  if (!sameJson(old.metadata.labels ?? {}, object?.metadata.labels ?? {}))
    throw refusal(attributes, `${who} cannot update labels through pod status`)
  if (!sameJson(old.status?.resourceClaimStatuses, object?.status?.resourceClaimStatuses))
    throw refusal(attributes, `${who} cannot update resource claim statues`)
  if (!sameJson(old.status?.extendedResourceClaimStatus, object?.status?.extendedResourceClaimStatus))
    throw refusal(attributes, `${who} cannot update extended resource claim status`)
}

async function eviction(attributes: Attributes, node: string): Promise<void> {
  const { operation, namespace, name, request } = attributes
  if (operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${operation}`)
  const pod = await storedObject<Pod>(request, PODS, `${namespace}/${name}`)
  if (pod === undefined) throw absent('pod', name)
  if (pod.spec?.nodeName !== node)
    throw refusal(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`)
}

function nodeWrite(attributes: Attributes, node: string): void {
  const { object, old } = kinds<Node>(attributes)
  const who = `node ${goQuote(node)}`
  const refuse = (why: string): StatusError => refusal(attributes, why)
  if (attributes.name !== node) throw refuse(`${who} is not allowed to modify node ${goQuote(attributes.name)}`)
  if (object === undefined) return
  const labels = forbiddenLabels(object.metadata.labels ?? {}, old?.metadata.labels ?? {})
  if (old === undefined) {
    if (object.spec?.configSource !== undefined)
      throw refuse(`${who} is not allowed to create pods with a non-nil configSource`)
    if (labels.length > 0) throw refuse(`${who} is not allowed to set the following labels: ${labels.join(', ')}`)
    return
  }
  const { configSource } = object.spec ?? {}
  if (configSource !== undefined && !sameJson(configSource, old.spec?.configSource))
    throw refuse(`${who} is not allowed to update configSource to a new non-nil configSource`)
  if (!sameJson(object.spec?.taints, old.spec?.taints)) throw refuse(`${who} is not allowed to modify taints`)
  if (!sameJson(object.metadata.ownerReferences, old.metadata.ownerReferences))
    throw refuse(`${who} is not allowed to modify ownerReferences`)
  if (labels.length > 0) throw refuse(`is not allowed to modify labels: ${labels.join(', ')}`)
}

type Labels = Readonly<Record<string, string>>

function forbiddenLabels(now: Labels, before: Labels): string[] {
  const changed = [...new Set([...Object.keys(now), ...Object.keys(before)])].filter(
    (key) => ownValue(now, key) !== ownValue(before, key),
  )
  return changed.filter(isForbiddenLabel).sort()
}

const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
])

function isForbiddenLabel(key: string): boolean {
  const slash = key.indexOf('/')
  const domain = slash < 0 ? '' : key.slice(0, slash)
  const within = (suffix: string): boolean => domain === suffix || domain.endsWith(`.${suffix}`)
  if (within('node-restriction.kubernetes.io')) return true
  if (!within('kubernetes.io') && !within('k8s.io')) return false
  return !kubeletLabels.has(key) && !within('kubelet.kubernetes.io') && !within('node.kubernetes.io')
}

function claimWrite(attributes: Attributes, node: string): void {
  if (attributes.subresource !== 'status') throw refusal(attributes, 'may only update PVC status')
  if (attributes.operation !== 'UPDATE')
    throw refusal(attributes, `unexpected operation ${goQuote(attributes.operation)}`)
  const { object, old } = kinds<PersistentVolumeClaim>(attributes)
  if (!sameJson(fixedPart(object), fixedPart(old)))
    throw refusal(
      attributes,
      `node ${goQuote(node)} is not allowed to update fields other than status.quantity and status.conditions`,
    )
}

/**
 * The claim without the fields in which a kubelet reports that a volume was expanded. A kubelet may change nothing
 * else.
 */
function fixedPart(claim: (PersistentVolumeClaim & KubeObject) | undefined): JsonObject | undefined {
  if (claim === undefined) return undefined
  const { metadata, status = {} } = claim
  const { resourceVersion: _version, managedFields: _fields, ...fixedMetadata } = metadata
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources: _allocated,
    allocatedResourceStatuses: _statuses,
    ...fixedStatus
  } = status
  return { ...claim, metadata: fixedMetadata, status: fixedStatus } as unknown as JsonObject
}

async function tokenRequest(attributes: Attributes, node: string): Promise<void> {
  const { operation, subresource, namespace, request } = attributes
  if (operation !== 'CREATE' || subresource !== 'token') return
  const { audiences = [], boundObjectRef } = kinds<TokenRequest>(attributes).object?.spec ?? {}
  const { apiVersion, kind, name = '', uid = '' } = boundObjectRef ?? {}
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '')
    throw refusal(attributes, 'node requested token not bound to a pod')
  if (uid === '') throw refusal(attributes, 'node requested token with a pod binding without a uid')
  const pod = await storedObject<Pod>(request, PODS, `${namespace}/${name}`)
  if (pod === undefined) throw absent('pod', name)
  if (pod.metadata.uid !== uid)
    throw refusal(
      attributes,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  if (pod.spec?.nodeName !== node)
    throw refusal(attributes, 'node requested token bound to a pod scheduled on a different node')
  if (isOn(attributes, 'ServiceAccountNodeAudienceRestriction')) await checkAudience(attributes, pod, audiences)
}

async function checkAudience(attributes: Attributes, pod: Pod & KubeObject, audiences: readonly string[]) {
  const { user, namespace, name, request } = attributes
  if (audiences.length > 1) throw refusal(attributes, 'node may only request 0 or 1 audiences')
  const [audience = ''] = audiences
  const errors: string[] = []
  for (const volume of pod.spec?.volumes ?? []) {
    const found = await volumeHasAudience(request, pod, volume, audience)
    if (found === true) return
    if (found !== false) errors.push(found.message)
  }
  if (errors.length > 0)
    throw refusal(attributes, `error validating audience ${goQuote(audience)}: ${aggregate(errors)}`)
  const asked = { namespace, apiVersion: 'v1', resource: audience, name }
  const verb = 'request-serviceaccounts-token-audience'
  if ((await verdictOn(request, resourceAttributes(user, verb, asked))).allowed) return
  throw refusal(
    attributes,
    `audience ${goQuote(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
  )
}

/** @returns the error where it cannot be told */
async function volumeHasAudience(
  request: Attributes['request'],
  pod: Pod & KubeObject,
  volume: Volume,
  audience: string,
): Promise<boolean | Error> {
  const tokens = (volume.projected?.sources ?? []).map(({ serviceAccountToken }) => serviceAccountToken)
  if (tokens.some((token) => token !== undefined && (token.audience ?? '') === audience)) return true
  const driverName = await driverOf(request, pod, volume)
  if (driverName === undefined || driverName instanceof Error) return driverName ?? false
  const drivers = { group: 'storage.k8s.io', resource: 'csidrivers' }
  const driver = await storedObject<CSIDriver>(request, drivers, driverName)
  if (driver === undefined) return notFound({ ...drivers, resource: 'csidriver' }, driverName)
  return (driver.spec?.tokenRequests ?? []).some((token) => (token.audience ?? '') === audience)
}

/** Undefined where the volume has no driver. An error where that cannot be told. */
async function driverOf(
  request: Attributes['request'],
  pod: Pod & KubeObject,
  volume: Volume,
): Promise<string | undefined | Error> {
  const { namespace, name } = pod.metadata
  const claimName = volume.ephemeral === undefined ? volume.persistentVolumeClaim?.claimName : `${name}-${volume.name}`
  if (claimName === undefined) return volume.csi?.driver ?? driverOfMigrated(volume)
  const claims = { group: '', resource: 'persistentvolumeclaims' }
  const claim = await storedObject<PersistentVolumeClaim>(request, claims, `${namespace}/${claimName}`)
  if (claim === undefined) return absent('persistentvolumeclaim', claimName)
  const volumes = { group: '', resource: 'persistentvolumes' }
  const volumeName = claim.spec?.volumeName ?? ''
  const bound = volumeName === '' ? undefined : await storedObject<PersistentVolume>(request, volumes, volumeName)
  if (bound === undefined) return absent('persistentvolume', volumeName)
  return bound.spec?.csi?.driver ?? driverOfMigratedVolume(bound.spec ?? {})
}

const NODE_LEASES = 'kube-node-lease'

function leaseWrite(attributes: Attributes, node: string): void {
  if (attributes.namespace !== NODE_LEASES)
    throw refusal(attributes, `can only access leases in the ${goQuote(NODE_LEASES)} system namespace`)
  if (nameOf(attributes) !== node)
    throw refusal(attributes, 'can only access node lease with the same name as the requesting node')
}

function csiNodeWrite(attributes: Attributes, node: string): void {
  if (nameOf(attributes) !== node)
    throw refusal(attributes, 'can only access CSINode with the same name as the requesting node')
}

const nameOf = (attributes: Attributes): string | undefined =>
  attributes.operation === 'CREATE' ? attributes.object?.metadata.name : attributes.name

function resourceSliceWrite(attributes: Attributes, node: string): void {
  const { object, old } = kinds<ResourceSlice>(attributes)
  const refuse = (verb: string): StatusError =>
    refusal(attributes, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`)
  if (attributes.operation === 'CREATE' && object?.spec?.nodeName !== node) throw refuse('create')
  if (attributes.operation === 'DELETE' && old?.spec?.nodeName !== node) throw refuse('delete')
}

const NODE_SIGNERS = new Set(['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'])

function certificateRequest(attributes: Attributes, node: string): void {
  const { spec } = kinds<CertificateSigningRequest>(attributes).object ?? {}
  if (attributes.operation !== 'CREATE' || !NODE_SIGNERS.has(spec?.signerName ?? '')) return
  if (isOn(attributes, 'AllowInsecureKubeletCertificateSigningRequests')) return
  const commonName = `system:node:${node}`
  let requested: string
  try {
    requested = parseCertificateRequest(new TextDecoder().decode(fromBase64(spec?.request ?? ''))).commonName
  } catch (error) {
    throw refusal(attributes, `unable to parse csr: ${(error as Error).message}`)
  }
  if (requested !== commonName) throw refusal(attributes, `can only create a node CSR with CN=${commonName}`)
}
