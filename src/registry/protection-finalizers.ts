/**
 * What StorageObjectInUseProtection and PodGroupProtection put on new objects, and volume-protection takes off, by
 * `resource.group`.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'

const finalizers: Readonly<Record<string, string>> = {
  'podgroups.scheduling.k8s.io': 'scheduling.k8s.io/podgroup-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  'volumeattributesclasses.storage.k8s.io': 'kubernetes.io/vac-protection',
}

export const protectionFinalizer = (resource: GroupResource): string | undefined =>
  ownValue(finalizers, groupResourceText(resource))

/** RESOURCE.GROUP/[NAMESPACE/]NAME of what is being deleted and protected; undefined for anything else. */
export function protectedKey(resource: GroupResource, { metadata }: KubeObject): string | undefined {
  const finalizer = protectionFinalizer(resource)
  if (finalizer === undefined || metadata.deletionTimestamp === undefined) return undefined
  if (!metadata.finalizers?.includes(finalizer)) return undefined
  const { namespace, name = '' } = metadata
  return [groupResourceText(resource), ...(namespace ? [namespace] : []), name].join('/')
}
