/**
 * StorageObjectInUseProtection and PodGroupProtection add a finalizer to new objects of some resources. The definition
 * of such a resource names the finalizer. volume-protection removes it.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'

/**
 * RESOURCE.GROUP/[NAMESPACE/]NAME of an object that is being deleted and still has the finalizer. Undefined for others.
 */
export function protectedKey(resource: GroupResource, finalizer: string, { metadata }: KubeObject): string | undefined {
  if (metadata.deletionTimestamp === undefined || !metadata.finalizers?.includes(finalizer)) return undefined
  const { namespace, name = '' } = metadata
  return [groupResourceText(resource), ...(namespace ? [namespace] : []), name].join('/')
}
