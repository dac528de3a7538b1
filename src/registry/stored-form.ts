/**
 * Converts between objects and the text that storage keeps: JSON in the storage version, as a JSON client of that
 * version gets it, with a gap where the shard writes the revision.
 */
import type { JsonObject, KubeObject } from '../api/object.ts'
import { asJson } from '../api/object.ts'
import { kept } from '../base/parts.ts'
import { encodeJson, encodeKeepingEmpty } from '../codec/encode/encode.ts'
import { endOfMetadata } from '../codec/metadata-text.ts'
import type { Live } from '../codec/stored-object.ts'
import { cloneJson } from '../json/clone-json.ts'
import { prune, pruneNulls } from '../schema/prune.ts'
import type { HeldAs, StructType } from '../schema/structural.ts'
import type { NewValue } from '../storage/storage.ts'
import type { Strategy } from './strategy.ts'
import { lazy } from '../base/lazy.ts'

/**
 * Marks the gap during encoding. It is random in each isolate, so that no text of a client can contain it. Its first
 * use creates it, because Workers have no randomness while they load.
 */
let mark: string | undefined

/** @param isThroughView a view may have set a field that the schema of a custom resource does not declare */
export function newValueOf(type: StructType, object: KubeObject, strategy: Strategy, isThroughView = false): NewValue {
  if (isThroughView && leavesOut[type.heldAs]) {
    const declared = kept(object, () => cloneJson(object))
    prune(type, asJson(declared))
    return newValueOf(type, declared, strategy)
  }
  const marked = kept(object, () => markedObject(object))
  const gapped = withoutMark(encodeJson(type, marked, { keepEmpty: isStoredInJson(type) }))
  if (!mayHaveNulls(type, gapped)) return valueOf(gapped, object, strategy)
  const readable = kept(object, () => cloneJson(marked))
  pruneNulls(type, readable)
  return valueOf(withoutMark(encodeJson(type, readable)), object, strategy)
}

/** Removes the fields that the schema of a custom resource does not declare, in place. */
export function removeUndeclared(type: StructType, object: KubeObject): void {
  if (leavesOut[type.heldAs]) prune(type, asJson(object))
}

/**
 * A null that the schema of a custom resource neither allows nor refuses reaches storage by an apply, a policy or a
 * webhook. kube-apiserver leaves it out when it reads the object, and so in the answer of the write.
 */
const mayHaveNulls = (type: StructType, { text }: Gapped): boolean => leavesOut[type.heldAs] && text.includes(':null')

const leavesOut = { typed: false, unstructured: true } satisfies Record<HeldAs, boolean>

/** kube-apiserver stores these kinds in JSON, which tells empty lists from absent ones. */
const isStoredInJson = ({ gvk }: StructType): boolean =>
  gvk?.kind === 'CustomResourceDefinition' || gvk?.kind === 'APIService'

/** JSON with a gap for the revision. */
type Gapped = Pick<NewValue, 'text' | 'at'>

function markedObject(object: KubeObject): JsonObject {
  mark ??= `revision-${crypto.randomUUID()}`
  return asJson({ ...object, metadata: { ...object.metadata, resourceVersion: mark } })
}

function withoutMark(marked: string): Gapped {
  const at = marked.indexOf(mark!)
  return { text: marked.slice(0, at) + marked.slice(at + mark!.length), at }
}

function valueOf(gapped: Gapped, object: KubeObject, strategy: Strategy): NewValue {
  const { metadata } = object
  const owners = metadata.ownerReferences?.map(({ uid }) => uid ?? '')
  const fields = strategy.selectableFields?.(object)
  return {
    ...gapped,
    uid: metadata.uid ?? '',
    ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
    ...(fields === undefined ? {} : { fields }),
    ...(owners === undefined ? {} : { owners }),
  }
}

/** The text before the gap, if other members of the metadata come before it. */
const BEFORE_GAP = ',"resourceVersion":"'

/** An object that no later step changes. It is encoded once, for validating webhooks and for storage. */
export class FinalObject {
  private gapped: Gapped | undefined
  private readonly shown = lazy(() => this.encodeShown())

  /** @param object in the storage version, which `type` describes */
  constructor(
    private readonly type: StructType,
    private readonly object: KubeObject,
    private readonly strategy: Strategy,
  ) {}

  /** JSON with empty lists and maps as the client sent them. Undefined for another object or another type. */
  textOf(object: KubeObject, type: StructType): string | undefined {
    return object === this.object && type === this.type ? this.shown() : undefined
  }

  value(): NewValue {
    const { type, object, strategy, gapped } = this
    return gapped === undefined || mayHaveNulls(type, gapped)
      ? newValueOf(type, object, strategy)
      : valueOf(gapped, object, strategy)
  }

  private encodeShown(): string | undefined {
    const version = this.object.metadata.resourceVersion
    if (version !== undefined && !/^\d+$/.test(version)) return undefined
    const { text: marked, hasKeptEmpty } = encodeKeepingEmpty(this.type, markedObject(this.object))
    const gapped = withoutMark(marked)
    const { text, at } = gapped
    if (!text.startsWith(BEFORE_GAP, at - BEFORE_GAP.length)) return undefined
    if (!hasKeptEmpty || isStoredInJson(this.type)) this.gapped = gapped
    return version === undefined
      ? text.slice(0, at - BEFORE_GAP.length) + text.slice(at + 1)
      : text.slice(0, at) + version + text.slice(at)
  }
}

/** Whether a write of `value` would leave `live` as it is. */
export function isUnchanged({ text, at }: NewValue, { stored }: Live): boolean {
  const revision = String(stored.revision)
  return (
    stored.text.length === text.length + revision.length &&
    stored.text.startsWith(revision, at) &&
    stored.text.slice(at + revision.length) === text.slice(at) &&
    stored.text.slice(0, at) === text.slice(0, at)
  )
}

/**
 * Whether a write of `value` changes more than the metadata of `live`. It says so without a look at the metadata, and
 * may miss a change.
 */
export function changesContent({ text }: NewValue, { stored }: Live): boolean {
  const [end, before] = [endOfMetadata(text), endOfMetadata(stored.text)]
  return end !== undefined && before !== undefined && text.slice(end) !== stored.text.slice(before)
}
