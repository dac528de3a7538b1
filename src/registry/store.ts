/** Stored objects as verbs find them, and the keys that messages name. */
import type { KubeObject } from '../api/object.ts'
import { HEAVY, LARGE, turnOfHeavy } from '../api/slices.ts'
import { badRequest } from '../api/status.ts'
import { liveOf } from '../codec/stored-object.ts'
import type { Live } from '../codec/stored-object.ts'
import { goQuote } from '../go/quote.ts'
import { takeFirstRead } from './first-read.ts'
import { keyOf } from './resource-scope.ts'
import type { ResourceScope } from './resource-scope.ts'
import { walked } from '../request/turns.ts'
import { pathSegmentName } from '../validation/names.ts'

/** Names that no object can have are refused before storage is asked. @throws 400 */
export function checkNameParameter(name: string): void {
  const [problem] = pathSegmentName(name, false)
  if (problem !== undefined) throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problem}`)
}

export async function readLive(
  scope: ResourceScope,
  name: string,
  namespace = scope.place.namespace,
): Promise<Live | undefined> {
  const key = keyOf(scope, name, namespace)
  const early = await takeFirstRead(scope.request, scope.collection, key)
  const stored = early ?? (await scope.storage.get(scope.collection, key))
  if (stored === undefined) return undefined
  if (stored.text.length > LARGE) scope.request.isLarge = true
  if (stored.text.length > HEAVY) await turnOfHeavy()
  const live = liveOf(stored)
  if (scope.resource.converter === undefined)
    return { stored, object: await walked(scope.request, () => scope.resource.currentForm(live.object)) }
  const object = await walked(scope.request, () => live.object)
  const [converted] = await scope.resource.converter.toServed([object], 'stored')
  return { stored, object: converted! }
}

/** An object as its caller read it. A write compares it with the stored one. */
export const knownLive = (object: KubeObject): Live => ({
  object,
  stored: { revision: Number(object.metadata.resourceVersion), text: '' }, // its text equals none: a write is a write
})

/** The storage key as kube-apiserver names it in messages, behind `/registry`, which dry runs leave out. */
export function referenceKey(scope: ResourceScope, name: string): string {
  const { storagePrefix, namespaced } = scope.resource
  return `/${storagePrefix}/${namespaced ? `${scope.place.namespace}/` : ''}${name}`
}
