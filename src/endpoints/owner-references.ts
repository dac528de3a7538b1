import type { KubeObject } from '../api/object.ts'

/** Of owner references with one uid only the first stays; the client is told (apiserver's handlers). */
export function dropDuplicateOwners({ metadata }: KubeObject, warnings: string[]): void {
  const seen = new Set<string>()
  const kept = metadata.ownerReferences?.filter(({ uid = '' }) => {
    if (!seen.has(uid)) return seen.add(uid)
    warnings.push(
      `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uid}`,
    )
    return false
  })
  if (kept !== undefined) metadata.ownerReferences = kept
}
