import { groupResourceText } from '../api/group-version.ts'
import type { GroupResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { HEAVY, slicesByLength, turnOfOthers } from '../base/slices.ts'
import { forbidden } from '../api/status.ts'
import { linesOf } from '../storage/streams/lines.ts'
import type { Env } from '../env.ts'
import { collectionOf } from '../storage/collections.ts'
import { parseStoredObject } from '../codec/stored-object.ts'
import { goQuote } from '../go/quote.ts'
import type { LargeValue } from '../request/context.ts'
import type { Selection } from '../storage/selectors/selection.ts'
import { everything } from '../storage/selectors/selection.ts'
import { storageFor } from '../storage/environment-storage.ts'
import type { Storage } from '../storage/storage.ts'
import type { Tenant } from '../storage/tenant.ts'

interface Plane {
  readonly env: Env
  readonly tenant: Tenant
  /** @see ApiCall */
  readonly storage?: Storage
  /** @see ApiCall */
  takeRoom?(value: LargeValue, size: number): Promise<void>
}

/** UTF-16 units of the texts that a request reads together: a quota is a thousandth of that. */
export const MOST_TOGETHER = 4 * 1024 * 1024

/**
 * All objects of a resource as they are now, in its storage version. Writes read such objects beside their own, and
 * clients make as many as they like.
 * @param namespace absent: all namespaces
 * @throws StatusError 403 where they have more than MOST_TOGETHER
 */
export async function storedObjects<O>(
  plane: Plane,
  resource: GroupResource,
  namespace?: string,
): Promise<(O & KubeObject)[]> {
  const found = await objectsTogether<O>(plane, resource, { namespace })
  if (typeof found !== 'string') return found
  const where = namespace === undefined ? '' : ` of namespace ${goQuote(namespace)}`
  throw forbidden(resource, '', `all ${groupResourceText(resource)}${where} have more than ${MOST_TOGETHER} characters`)
}

export interface Together {
  readonly namespace?: string | undefined
  readonly selection?: Selection
  /** The most objects. */
  readonly most?: number
}

/** The objects are parsed once the memory has room for all of them. */
export async function objectsTogether<O>(
  plane: Plane,
  resource: GroupResource,
  { namespace, selection, most = Infinity }: Together,
): Promise<(O & KubeObject)[] | 'too many' | 'too much'> {
  const texts: string[] = []
  let length = 0
  for await (const text of eachText(plane, resource, namespace, selection)) {
    if (texts.length === most) return 'too many'
    length += text.length
    if (length > MOST_TOGETHER) return 'too much'
    texts.push(text)
  }
  if (length > HEAVY) await plane.takeRoom?.('others', length)
  const objects: (O & KubeObject)[] = []
  for (const slice of slicesByLength(texts, (text) => text.length)) {
    if (objects.length > 0) await turnOfOthers()
    // the caller knows the type, and a resource has only one
    for (const text of slice) objects.push(parseStoredObject(text) as O & KubeObject)
  }
  return objects
}

/** The objects of a list, or of a selection, one after the other: for lists that may not fit into memory. */
export async function* eachStoredObject<O>(
  plane: Plane,
  resource: GroupResource,
  namespace?: string,
  selection?: Selection,
): AsyncGenerator<O & KubeObject> {
  // the caller knows the type, and a resource has only one
  for await (const text of eachText(plane, resource, namespace, selection))
    yield parseStoredObject(text) as O & KubeObject
}

async function* eachText(
  plane: Plane,
  resource: GroupResource,
  namespace: string | undefined,
  selection: Selection = everything,
): AsyncGenerator<string> {
  const { isEmpty, values } = await storageFor(plane).list(collectionOf(plane.tenant, resource), {
    selection,
    at: { kind: 'latest' },
    ...(namespace === undefined ? {} : { namespace }),
  })
  if (!isEmpty) yield* linesOf(values)
}
