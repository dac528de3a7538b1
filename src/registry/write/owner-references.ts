import type { KubeObject, OwnerReference } from '../../api/object.ts'

/** Repeated owner references are removed, with a warning (apiserver's handlers). */
export function dropDuplicateOwners({ metadata }: KubeObject, warnings: string[]): void {
  const seen = new Set<string>()
  const duplicates: string[] = []
  const kept = metadata.ownerReferences?.filter((owner) => {
    const key = keyOf(owner)
    if (seen.has(key)) duplicates.push(owner.uid ?? '')
    return !seen.has(key) && seen.add(key)
  })
  if (duplicates.length === 0) return
  metadata.ownerReferences = kept
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  )
}

const keyOf = ({ apiVersion = '', kind = '', name = '', uid = '', controller, blockOwnerDeletion }: OwnerReference) =>
  JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
