import type { ObjectMeta } from '../api/object.ts'

/** For kinds whose `status` subresource changes only the status: labels, annotations and other metadata stay. */
export function keepMetadata(meta: ObjectMeta, old: ObjectMeta): void {
  for (const field of ['annotations', 'labels', 'finalizers', 'ownerReferences', 'deletionTimestamp'] as const)
    if (old[field] === undefined) delete meta[field]
    // own key: one of the five
    else Object.assign(meta, { [field]: old[field] })
}
