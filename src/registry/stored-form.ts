/**
 * Converts between objects and the text that storage keeps: JSON in the storage version, exactly as a JSON client of
 * that version gets it, with a gap where the shard writes the revision.
 */
import type { KubeObject } from '../api/object.ts'
import { asJson } from '../api/object.ts'
import { kept } from '../api/parts.ts'
import { encodeJson } from '../codec/encode.ts'
import type { Live } from '../codec/stored-object.ts'
import type { StructType } from '../schema/structural.ts'
import type { NewValue } from '../storage/storage.ts'
import type { Strategy } from './strategy.ts'

/**
 * Marks the gap while encoding. It is random per isolate, so that no text of a client can contain it. It is made on
 * first use, because Workers have no randomness while they load.
 */
let mark: string | undefined

export function newValueOf(type: StructType, object: KubeObject, strategy: Strategy): NewValue {
  mark ??= `revision-${crypto.randomUUID()}`
  const { metadata } = object
  const markedObject = kept(object, () => asJson({ ...object, metadata: { ...metadata, resourceVersion: mark! } }))
  const marked = encodeJson(type, markedObject)
  const at = marked.indexOf(mark)
  const owners = metadata.ownerReferences?.map(({ uid }) => uid ?? '')
  const fields = strategy.selectableFields?.(object)
  return {
    text: marked.slice(0, at) + marked.slice(at + mark.length),
    at,
    uid: metadata.uid ?? '',
    ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
    ...(fields === undefined ? {} : { fields }),
    ...(owners === undefined ? {} : { owners }),
  }
}

/** Whether writing `value` over `live` would change nothing. */
export function isUnchanged(value: NewValue, { stored }: Live): boolean {
  const { text, at } = value
  return text.slice(0, at) + stored.revision + text.slice(at) === stored.text
}
