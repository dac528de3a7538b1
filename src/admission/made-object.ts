/** Replaces the object of a request after a policy or a webhook has changed it. */
import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import type { JsonTree } from '../json/json.ts'
import { plainJson } from '../json/json.ts'
import type { Json, JsonObject, KubeObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { kept } from '../base/parts.ts'
import { internalError, serviceUnavailable } from '../api/status.ts'
import { cloneInParts } from '../json/clone-json.ts'
import { valuesEqualApart } from '../json/value-order.ts'
import { stringifySorted } from '../json/write-json.ts'
import { walked } from '../request/turns.ts'
import { resourceOf } from '../registry/resource-of.ts'
import type { ResourceEntry } from '../registry/served/resources.ts'
import { builtInServed } from '../registry/served/built-in-served.ts'
import { readableMetadata } from '../codec/decode/decode-custom.ts'
import { DecodeError } from '../codec/decode/decode-problems.ts'
import { decodePatched } from '../patch/decode-patched.ts'
import { closed, opened, OpenMap } from '../patch/json-document.ts'
import { typeOfKind } from '../schema/built-in.ts'
import type { DefaultingContext } from '../schema/default-rules.ts'
import { applyDefaults } from '../schema/defaulting.ts'
import { prune } from '../schema/prune.ts'
import type { HeldAs, StructType } from '../schema/structural.ts'
import type { Attributes } from './attributes.ts'
import type { ResourceKind } from './equivalent-resources.ts'
import { inKind } from './policies/versioned-object.ts'

/** The type in which a policy or a webhook sees objects. */
export interface PatchedType {
  readonly type: StructType
  readonly kind: GroupVersionKind
  /**
   * Whether the OpenAPI document of its version contains the kind. It contains the kinds of resources, but not those
   * of subresources.
   */
  readonly isPublished: boolean
  readonly requestKind: GroupVersionKind
  readonly defaulting: DefaultingContext
}

export function typeOfMatched(
  { request, kind: requestKind }: Attributes,
  { kind }: ResourceKind,
  entry: ResourceEntry | undefined,
): PatchedType {
  const { gates } = builtInServed(request.env)
  const isOwnKind = entry !== undefined && entry.kind === kind.kind && entry.group === kind.group
  const resource = isOwnKind ? resourceOf(request, entry) : undefined
  const type = resource === undefined ? typeOfKind(kind) : resource.type
  if (type !== undefined)
    return {
      type,
      kind,
      isPublished: isOwnKind,
      requestKind,
      defaulting: { now: request.now, enabled: (gate) => gates.enabled(gate), ofKind: resource?.kindDefaults },
    }
  throw serviceUnavailable(
    `Resource kind ${kind.group}/${kind.version}, Kind=${kind.kind} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
  )
}

/** Writes a policy's result into the object of the request, in the request's version. @returns whether it changed */
export async function replaceObject(
  { object, request }: Attributes,
  entry: ResourceEntry | undefined,
  made: KubeObject,
): Promise<boolean> {
  if (object === undefined) return false
  const { group = '', version = '' } = parseApiVersion(object.apiVersion ?? '') ?? {}
  const kind = { group, version, kind: object.kind ?? '' }
  const wanted = entry === undefined ? made : await inKind(request, entry, kind, made)
  // API objects are JSON
  if (await walked(request, () => valuesEqualApart(object as unknown as Json, wanted as unknown as Json))) return false
  const target = object as unknown as JsonObject
  for (const name of Object.keys(target)) delete target[name]
  const copy = await walked(request, () => cloneInParts(wanted))
  for (const [name, value] of Object.entries(copy)) setOwn(target, name, value as Json)
  return true
}

/** What decoding does with unknown fields: refuse or drop them. */
type UnknownFields = 'strict' | 'lenient'

interface MadeObjects {
  readonly convertsBetweenVersions: boolean
  decode(document: JsonTree, of: PatchedType, fields: UnknownFields): JsonObject
}

const typed: MadeObjects = {
  convertsBetweenVersions: false,
  decode(document, { type, kind, defaulting }, fields) {
    try {
      const { object, strict } = decodePatched(type, kind, withVersion(document, kind), (of, one) =>
        applyDefaults(of, one, defaulting),
      )
      if (fields === 'strict' && strict.length > 0) throw new DecodeError(`strict decoding error: ${strict.join(', ')}`)
      return object
    } catch (error) {
      throw error instanceof DecodeError ? internalError(error.message) : error
    }
  },
}

const unstructured: MadeObjects = {
  convertsBetweenVersions: true,
  decode(document, { type, defaulting }) {
    const object = plainJson(document) as JsonObject // the patched document is an object
    checkTypeMeta(object)
    if (typeof object['kind'] !== 'string' || object['kind'] === '')
      throw internalError(`Object 'Kind' is missing in '${stringifySorted(object)}'`)
    const { metadata = {} } = object
    if (!isJsonObject(metadata)) throw internalError('system metadata was not initialized')
    object['metadata'] = kept(object, () => readableMetadata(metadata))
    prune(type, object)
    applyDefaults(type, object, defaulting)
    return object
  },
}

/** @throws StatusError 500 where the version or the kind cannot be read */
function checkTypeMeta(object: JsonObject): void {
  for (const name of ['apiVersion', 'kind']) {
    const value = ownValue(object, name) ?? ''
    if (typeof value !== 'string')
      throw internalError(
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into Go struct field .${name} of type string`,
      )
  }
  const version = object['apiVersion'] ?? ''
  if (typeof version === 'string' && parseApiVersion(version) === undefined)
    throw internalError(`unexpected GroupVersion string: ${version}`)
}

/** Go's name for a JSON value that is no text, in its errors. */
const jsonKind = (value: Json): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value

const made = { typed, unstructured } satisfies Record<HeldAs, MadeObjects>

/** Whether kube-apiserver converts an object of the type between two versions that are both not the storage version. */
export const convertsBetweenVersions = ({ heldAs }: StructType): boolean => made[heldAs].convertsBetweenVersions

/**
 * Decodes a patched document to an object with defaults.
 * @throws StatusError 500
 */
export const decodeMade = (document: JsonTree, of: PatchedType, fields: UnknownFields): KubeObject =>
  made[of.type.heldAs].decode(document, of, fields) as unknown as KubeObject // the decoded document is an API object

/** Sets the version of the patched object where the patch has removed or emptied it. */
function withVersion(document: JsonTree, kind: GroupVersionKind): JsonTree {
  const open = opened(document)
  if (!(open instanceof OpenMap) || (open.members.get('apiVersion') ?? '') !== '') return document
  open.members.set('apiVersion', apiVersionOf(kind))
  return closed(open)
}
