/** What controllers have to look at when a control plane was restored: everything, for its old work is forgotten. */
import type { GroupResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { OutboxMessage } from '../storage/storage.ts'
import { workFor } from '../registry/outbox.ts'

/** The same as if the object had just been created, and after that deleted if it is being deleted. */
export function workForRestored(resource: GroupResource, object: KubeObject): readonly OutboxMessage[] {
  const created = workFor({ resource, object })
  const { deletionTimestamp, ...before } = object.metadata
  if (deletionTimestamp === undefined) return created
  const deleted = workFor({ resource, object, old: { ...object, metadata: before } })
  return [...new Map([...created, ...deleted].map((work) => [`${work.topic} ${work.payload}`, work])).values()]
}
