/**
 * Whether an object belongs to a pod that is bound to a node:
 *
 *   node ← pod ← ServiceAccount, Secret, ConfigMap, PersistentVolumeClaim, ResourceClaim
 *   node ← pod ← PersistentVolumeClaim ← PersistentVolume ← Secret
 *   node ← VolumeAttachment, ResourceSlice, PodCertificateRequest
 *
 * It is looked up when a node asks; there is no graph to be kept up to date.
 */
import type { PodCertificateRequest } from '../api/certificates/v1beta1.ts'
import type { PersistentVolume, Pod } from '../api/core/v1.ts'
import type { ResourceSlice } from '../api/resource/v1.ts'
import type { VolumeAttachment } from '../api/storage/v1.ts'
import { parseStored } from '../json/parse-json.ts'
import { linesOf } from '../storage/streams/lines.ts'
import { collectionOf } from '../storage/collections.ts'
import { storageFor } from '../storage/environment-storage.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import { storedObject } from '../tenancy/stored-object.ts'
import type { AuthorizationAttributes } from './attributes.ts'
import type { PodReferences } from './pod-references.ts'
import { podReferences, volumeSecrets } from './pod-references.ts'

type Asked = Pick<AuthorizationAttributes, 'resource' | 'namespace' | 'name'>
/** A mirror pod represents a pod that the node started itself. It gives the node no rights. */
const MIRROR = 'kubernetes.io/config.mirror'

export async function relatesToNode(plane: ControlPlane, node: string, asked: Asked): Promise<boolean> {
  const { resource, namespace, name } = asked
  const key = `${namespace}/${name}`
  switch (resource) {
    case 'pods':
      return (await storedObject<Pod>(plane, { group: '', resource }, key))?.spec?.nodeName === node
    case 'volumeattachments':
      return (
        (await storedObject<VolumeAttachment>(plane, { group: 'storage.k8s.io', resource }, name))?.spec?.nodeName ===
        node
      )
    case 'resourceslices':
      return (
        (await storedObject<ResourceSlice>(plane, { group: 'resource.k8s.io', resource }, name))?.spec?.nodeName ===
        node
      )
    case 'podcertificaterequests':
      return (
        (await storedObject<PodCertificateRequest>(plane, { group: 'certificates.k8s.io', resource }, key))?.spec
          ?.nodeName === node
      )
    case 'serviceaccounts':
      return podRefers(plane, node, namespace, ({ serviceAccounts }) => serviceAccounts.has(name))
    case 'configmaps':
      return podRefers(plane, node, namespace, ({ configMaps }) => configMaps.has(name))
    case 'persistentvolumeclaims':
      return podRefers(plane, node, namespace, ({ claims }) => claims.has(name))
    case 'resourceclaims':
      return podRefers(plane, node, namespace, ({ resourceClaims }) => resourceClaims.has(name))
    case 'persistentvolumes':
      return volumeIsUsed(plane, node, await storedObject<PersistentVolume>(plane, { group: '', resource }, name))
    case 'secrets':
      return (
        (await podRefers(plane, node, namespace, ({ secrets }) => secrets.has(name))) ||
        (await volumeRefers(plane, node, asked))
      )
    default:
      return false
  }
}

async function podRefers(
  plane: ControlPlane,
  node: string,
  namespace: string,
  refers: (references: PodReferences) => boolean,
): Promise<boolean> {
  for await (const pod of podsOf(plane, node, namespace)) if (refers(podReferences(pod))) return true
  return false
}

async function volumeIsUsed(plane: ControlPlane, node: string, volume: PersistentVolume | undefined) {
  const claim = volume?.spec?.claimRef
  if (claim?.namespace === undefined || claim.name === undefined) return false
  const { namespace, name } = claim
  return podRefers(plane, node, namespace, ({ claims }) => claims.has(name))
}

/** Whether a volume needs the secret that names a claim of one of the node's pods. The claim need not name the volume. */
async function volumeRefers(plane: ControlPlane, node: string, asked: Asked): Promise<boolean> {
  const claims = new Set<string>()
  for await (const pod of podsOf(plane, node))
    for (const claim of podReferences(pod).claims) claims.add(`${pod.metadata?.namespace}/${claim}`)
  if (claims.size === 0) return false
  const secret = `${asked.namespace}/${asked.name}`
  const volumes = collectionOf(plane.tenant, { group: '', resource: 'persistentvolumes' })
  const { values } = await storageFor(plane).list(volumes, ALL)
  for await (const line of linesOf(values)) {
    if (!line.includes(asked.name)) continue
    const volume = parseStored(line) as unknown as PersistentVolume // storage holds only volumes in this collection
    const bound = volume.spec?.claimRef
    if (claims.has(`${bound?.namespace}/${bound?.name}`) && volumeSecrets(volume).has(secret)) return true
  }
  return false
}

const ALL = { selection: { labels: [], fields: [] }, at: { kind: 'latest' } } as const

async function* podsOf(plane: ControlPlane, node: string, namespace?: string): AsyncGenerator<Pod> {
  const pods = collectionOf(plane.tenant, { group: '', resource: 'pods' })
  const { values } = await storageFor(plane).list(pods, {
    ...(namespace === undefined ? {} : { namespace }),
    selection: { labels: [], fields: [{ field: 'spec.nodeName', operator: '=', value: node }] },
    at: { kind: 'latest' },
  })
  for await (const line of linesOf(values)) {
    const pod = parseStored(line) as unknown as Pod // storage holds only pods in this collection
    if (pod.metadata?.annotations?.[MIRROR] === undefined) yield pod
  }
}
