import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { eachPart, kept } from '../../base/parts.ts'

/** Of POST and PUT the server reads both what the client sent and what mutating admission made of it, of PATCH the latter. */
type When = 'as sent' | 'after admission'

const entries = {
  'as sent': 'duplicate entries',
  'after admission': 'duplicate entries after mutating admission happens',
} satisfies Record<When, string>

/** Removes repeated owner references, with a warning (apiserver's handlers). A walk (base/parts.ts). */
export function dropDuplicateOwners({ metadata }: KubeObject, warnings: string[], when: When): void {
  const { ownerReferences = [] } = metadata
  const { seen, duplicates } = kept(ownerReferences, () => ({
    seen: new Map<string, OwnerReference>(),
    duplicates: [] as string[],
  }))
  eachPart(ownerReferences, (owner) => {
    const key = keyOf(owner)
    if (seen.has(key)) duplicates.push(owner.uid ?? '')
    else seen.set(key, owner)
  })
  if (duplicates.length === 0) return
  metadata.ownerReferences = [...seen.values()]
  warnings.push(
    `.metadata.ownerReferences contains ${entries[when]}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  )
}

const keyOf = ({ apiVersion = '', kind = '', name = '', uid = '', controller, blockOwnerDeletion }: OwnerReference) =>
  JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
