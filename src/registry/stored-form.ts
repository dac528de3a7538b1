/**
 * Between objects and what storage keeps: JSON text in the storage version, exactly as a JSON client of that version
 * gets it, with a gap where the shard writes the revision.
 */
import type { JsonObject, KubeObject } from '../api/object.ts'
import { encodeJson } from '../codec/encode.ts'
import { parseStoredObject } from '../codec/stored-object.ts'
import type { StructType } from '../schema/structural.ts'
import type { NewValue, StoredValue } from '../storage/storage.ts'
import type { Strategy } from './strategy.ts'

export interface Live {
  readonly object: KubeObject
  readonly stored: StoredValue
}

/** What a write leaves; `stored` is absent where nothing was written: a dry run, or a write that would change nothing. */
export type Left = Pick<Live, 'object'> & Partial<Live>

export const liveOf = (stored: StoredValue): Live => new ParsedLater(stored)

/** Who only sends on what is stored looks into no object. */
class ParsedLater implements Live {
  readonly stored: StoredValue
  private parsed: KubeObject | undefined = undefined

  constructor(stored: StoredValue) {
    this.stored = stored
  }

  get object(): KubeObject {
    return (this.parsed ??= parseStoredObject(this.stored.text))
  }
}

/**
 * Marks the gap while encoding. Random per isolate, so that no text of a client can hold it; made on first use, for
 * Workers have no randomness while they are loaded.
 */
let mark: string | undefined

export function newValueOf(type: StructType, object: KubeObject, strategy: Strategy): NewValue {
  mark ??= `revision-${crypto.randomUUID()}`
  const { metadata } = object
  const marked = encodeJson(type, asJson({ ...object, metadata: { ...metadata, resourceVersion: mark } }))
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

/** Objects are JSON whose interfaces do not say so. */
export const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject

/** Whether writing `value` over `live` would change nothing. */
export function isUnchanged(value: NewValue, { stored }: Live): boolean {
  const { text, at } = value
  return text.slice(0, at) + stored.revision + text.slice(at) === stored.text
}
