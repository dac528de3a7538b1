/** The default class for objects that name no class: the newest class that is marked as the default. */
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { linesOf } from '../../storage/streams/lines.ts'
import { collectionOf } from '../../storage/collections.ts'
import { liveOf } from '../../codec/stored-object.ts'
import type { ApiCall } from '../../request/context.ts'
import { everything } from '../../storage/selectors/selection.ts'
import { storageFor } from '../../storage/environment-storage.ts'

/** @param annotations a class with the value "true" for any of them is a default */
export async function defaultClass(
  call: ApiCall,
  resource: GroupResource,
  annotations: readonly string[],
): Promise<string | undefined> {
  const { values, revision } = await storageFor(call).list(collectionOf(call.tenant, resource), {
    selection: everything,
    at: { kind: 'latest' },
  })
  const found: KubeObject[] = []
  for await (const text of linesOf(values)) {
    const { object } = liveOf({ revision, text })
    // few: the annotations of a default class
    if (annotations.some((name) => ownValue(object.metadata.annotations, name) === 'true')) found.push(object)
  }
  return found.sort(newestFirst)[0]?.metadata.name
}

function newestFirst({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const { creationTimestamp: timeA = '', name: nameA = '' } = a
  const { creationTimestamp: timeB = '', name: nameB = '' } = b
  if (timeA !== timeB) return timeA > timeB ? -1 : 1
  return nameA < nameB ? -1 : 1
}
