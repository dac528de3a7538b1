/**
 * Steps between a request and storage that only custom resources in another version than the stored one need. For other
 * resources they cost nothing.
 */
import { FewAtOnce } from '../base/few-at-once.ts'
import { LARGE } from '../base/slices.ts'
import { stringify } from '../json/write-json.ts'
import type { KubeObject } from '../api/object.ts'
import { asJson } from '../api/object.ts'
import { liveOf, parseStoredObject } from '../codec/stored-object.ts'
import { mappedLines } from '../storage/streams/lines.ts'
import type { NewValue, StoredValue } from '../storage/storage.ts'
import { walked } from '../request/turns.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import type { ResourceScope } from './resource-scope.ts'
import { FinalObject, newValueOf } from './stored-form.ts'

/** Whether a read asks a webhook. Other reads convert an object when they encode it. */
export const asksToRead = ({ resource }: ResourceScope): boolean => resource.converter?.asks === true

/**
 * What an answer encodes of an object that the server read or wrote. Encoding converts it from the storage version, if
 * that asks no webhook.
 * @throws StatusError
 */
export function forAnswer(
  scope: ResourceScope,
  value: KubeObject | StoredValue,
): KubeObject | StoredValue | Promise<KubeObject> {
  const { converter } = scope.resource
  if (converter === undefined || (!converter.asks && 'text' in value)) return value
  return converter.asks ? convertedValue(scope, value) : converter.toStored(value as KubeObject)
}

/** Converts an object that the server read or wrote to the version of the request. @throws StatusError */
export function inRequestVersion<Value extends KubeObject | StoredValue>(
  scope: ResourceScope,
  value: Value,
): Value | Promise<KubeObject> {
  return scope.resource.converter === undefined ? value : convertedValue(scope, value)
}

async function convertedValue(scope: ResourceScope, value: KubeObject | StoredValue): Promise<KubeObject> {
  const [object] =
    'text' in value
      ? await scope.resource.converter!.toServed([liveOf(value).object], 'stored')
      : await scope.resource.converter!.toServed([value], 'made')
  return object!
}

/**
 * What a dry run has written: the object as it would be read back. A webhook may not keep all of it in storage.
 * @throws StatusError
 */
export async function asReadBack({ resource: { converter } }: ResourceScope, object: KubeObject): Promise<KubeObject> {
  if (converter?.asks !== true) return object
  const [read = object] = await converter.toServed([await converter.toStored(object)], 'made')
  return read
}

/** Returns the value that storage keeps of an object. @throws StatusError */
export async function valueToStore(scope: ResourceScope, object: KubeObject): Promise<NewValue> {
  const {
    request,
    resource: { converter, storageType, strategy, view },
  } = scope
  const isThroughView = view !== undefined
  if (converter === undefined) return newValueOf(storageType, object, strategy, isThroughView)
  const stored = await converter.toStored(object)
  return walked(request, () =>
    newValueOf(converter.stored.storageType, stored, converter.stored.strategy, isThroughView),
  )
}

/**
 * An object at the end of its write. Undefined if the server converts it for storage, if a view wrote it, and for a large
 * request, whose objects the server encodes in parts.
 */
export const finalObject = (
  { request, resource: { converter, storageType, strategy, view } }: ResourceScope,
  object: KubeObject,
): FinalObject | undefined =>
  converter === undefined && view === undefined && !request.isLarge
    ? new FinalObject(storageType, object, strategy)
    : undefined

/** Long texts that lists and watches convert. A webhook that hangs keeps only those of its control plane waiting. */
const conversions = perTenant('is of requests under way', () => new FewAtOnce())

/** Converts stored texts to the version of the request, by the webhook. @throws StatusError */
export async function convertedTexts(scope: ResourceScope, texts: readonly string[]): Promise<string[]> {
  const { converter } = scope.resource
  if (converter?.asks !== true) return [...texts]
  const convert = async (): Promise<string[]> => {
    const objects = await converter.toServed(texts.map(parseStoredObject), 'stored')
    return objects.map((object) => stringify(asJson(object)))
  }
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  return length > LARGE ? conversions(scope.request.tenant).run(length, convert) : convert()
}

/** @param values texts, each followed by a newline */
export function convertedLines(scope: ResourceScope, values: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  if (!asksToRead(scope)) return values
  return mappedLines(values, (lines) => convertedTexts(scope, lines))
}
