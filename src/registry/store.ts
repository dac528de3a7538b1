/** Reads stored objects for verbs, and makes the keys that messages name. */
import type { KubeObject } from '../api/object.ts'
import { HEAVY } from '../base/slices.ts'
import { grown } from '../codec/encoded-resource.ts'
import { liveOf } from '../codec/stored-object.ts'
import type { Live } from '../codec/stored-object.ts'
import type { StoredValue } from '../storage/storage.ts'
import { takeFirstRead } from './first-read.ts'
import { keyOf } from './resource-scope.ts'
import type { ResourceScope } from './resource-scope.ts'
import { isLargeIn, noteManyValues, turnOf, walked } from '../request/turns.ts'

export async function readLive(
  scope: ResourceScope,
  name: string,
  namespace = scope.place.namespace,
): Promise<Live | undefined> {
  const key = keyOf(scope, name, namespace)
  const early = await takeFirstRead(scope.request, scope.collection, key)
  const stored = early ?? (await scope.storage.get(scope.collection, key))
  return stored && readStored(scope, stored)
}

/** The object of a text that was read, in the storage version. A large one waits for room in the memory. */
export async function readStored(scope: ResourceScope, stored: StoredValue): Promise<Live> {
  const { resource, request } = scope
  if (isLargeIn(resource.gvr.group, stored.text, grown(resource, stored.text.length))) request.isLarge = true
  if (stored.text.length > HEAVY) {
    await request.takeRoom?.('object', stored.text.length)
    await turnOf(request)
  }
  const live = liveOf(stored)
  if (stored.text.length > HEAVY && request.isLarge !== true) noteManyValues(request, live.object)
  if (scope.resource.converter === undefined)
    return { stored, object: await walked(scope.request, () => scope.resource.currentForm(live.object)) }
  const object = await walked(scope.request, () => live.object)
  const [converted] = await scope.resource.converter.toServed([object], 'stored')
  return { stored, object: converted! }
}

/** An object as its caller read it, and whole. The write compares its revision with the stored one. */
export function knownLive(object: KubeObject): Live {
  const { name, resourceVersion } = object.metadata
  if (resourceVersion === undefined) throw new Error(`assertion failed: ${name} is not as it was read`)
  return { object, stored: { revision: Number(resourceVersion), text: '' } } // '' differs from every stored text
}

/** The etcd key that kube-apiserver prints in messages, after `/registry`. Messages of a dry run omit `/registry`. */
export function referenceKey(scope: ResourceScope, name: string): string {
  const { storagePrefix, namespaced } = scope.resource
  return `/${storagePrefix}/${namespaced ? `${scope.place.namespace}/` : ''}${name}`
}
