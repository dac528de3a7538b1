/** The types of patches. Each takes the live object and a body, and makes the object to be stored. */
import { eachName, goesInParts, inParts, kept, mapParts } from '../base/parts.ts'
import { setOwn } from '../base/own.ts'
import type { Steps } from '../base/slices.ts'
import type { GroupResource, GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf } from '../api/group-version.ts'
import { invalidValue, path } from '../api/field.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import { badRequest, conflict, invalid, notFound, StatusError } from '../api/status.ts'
import { decodeUnstructured } from '../codec/decode/decode-untyped.ts'
import { DecodeError } from '../codec/decode/decode-problems.ts'
import type { Decoded } from '../codec/decode/decoded.ts'
import { checkLeastSize } from '../codec/protobuf/least-size.ts'
import { MAX_NESTING, plainJson } from '../json/json.ts'
import { decodeUtf8 } from '../base/utf8.ts'
import { parsingJsonBytes } from '../json/parse-json.ts'
import { JsonSyntaxError } from '../json/scanner.ts'
import type { JsonTree } from '../json/json.ts'
import type { FieldValidation } from '../request/options.ts'
import type { StructType } from '../schema/structural.ts'
import { applying } from './apply.ts'
import { fromUnstructured } from './from-unstructured.ts'
import { goValue } from '../go/value.ts'
import { closed, copyOf, isMap, openedInParts, treeText } from './json-document.ts'
import { readJsonPatch } from './json-patch.ts'
import { applyJsonPatch } from './json-patch-operations.ts'
import { tracking } from './managed-fields.ts'
import type { ConvertVersion } from './object-versions.ts'
import { applyMergePatch } from './merge-patch.ts'
import { withFields } from '../schema/emptied.ts'
import { asWritten, keepEmptyManagedFields, mergedObject, withKind } from './object-forms.ts'
import type { ResetFields } from './reset-fields.ts'
import { applyingStrategicMergePatch } from './strategic-merge-patch.ts'
import type { PatchMap } from './strategic-form.ts'

/** A patch of one object, in the version of the request. */
export interface PatchInput {
  readonly type: StructType
  readonly kind: GroupVersionKind
  readonly resource: GroupResource
  readonly name: string
  /** '' for the main resource. */
  readonly subresource: string
  /** Undefined: there is no such object. */
  readonly live: KubeObject | undefined
  readonly body: Uint8Array
  /** The fieldManager parameter, or for types other than apply `managerOfUserAgent`. */
  readonly manager: string
  readonly force: boolean
  readonly fieldValidation: FieldValidation
  readonly now: Date
  readonly resetFields?: ResetFields | undefined
  readonly convert?: ConvertVersion | undefined
  /**
   * Decodes a whole object of the endpoint's kind with defaults, like the body of an update. `decodePatched` does it
   * for built-in kinds. Custom resources are decoded by their schema.
   * @throws DecodeError
   */
  decode(tree: JsonTree): Decoded
  /** Sets defaults in place, for built-in kinds whose merged objects were not decoded. */
  applyDefaults(object: JsonObject): void
  /**
   * An applied configuration, in YAML or CBOR: its value, and its repeated members (`line 7: key "x" already set in
   * map`).
   * @throws Error with the text that follows `error decoding YAML: `
   */
  readApplied(body: Uint8Array): Steps<{ readonly tree: JsonTree; readonly repeated: readonly string[] }>
  /**
   * Converts an object of this version as the write will. Field ownership counts fields that conversion sets as
   * written.
   */
  afterConversion?(object: KubeObject): KubeObject
  /**
   * Default true. kube-apiserver cannot apply to a kind without an internal type, because it does not convert the
   * kind.
   */
  readonly hasInternalType?: boolean
  /**
   * Called before the work on a document that has grown by so many bytes without them being in the body.
   * @throws StatusError 429
   */
  grew(bytes: number): Promise<void>
  /** Called with the error where field ownership could not be computed. */
  untracked(error: unknown): void
  /** A text for a Warning header. */
  warn(text: string): void
}

/**
 * Returns the object to be stored, with its managedFields. Admission and the strategy follow. A patch can change the
 * metadata, so the caller checks name, namespace and resourceVersion.
 * @throws StatusError
 */
export type Patch = (input: PatchInput) => Steps<KubeObject>

export const patchTypes = {
  'application/json-patch+json': jsonPatch,
  'application/merge-patch+json': mergePatch,
  'application/strategic-merge-patch+json': strategicMergePatch,
  'application/apply-patch+yaml': applyPatch,
} satisfies Record<string, Patch>

export type PatchTypeName = keyof typeof patchTypes

function* jsonPatch(input: PatchInput): Steps<KubeObject> {
  const live = mustExist(input)
  const tree = yield* parse(input, (why) => (checks(input) ? `error decoding patch: ${why}` : why))
  yield
  const text = decodeUtf8(input.body)
  const patch = yield* inParts(() => readJsonPatch(tree, checks(input), text))
  const before = yield* documentOf(input, live)
  const { document, copied } = yield* inParts(() => applyJsonPatch(before, patch))
  if (copied > 0) yield input.grew(copied)
  return yield* tracked(input, live, yield* decodeDocument(input, document, patch.strict))
}

function* mergePatch(input: PatchInput): Steps<KubeObject> {
  const live = mustExist(input)
  const patch = yield* parse(input, (why) => (checks(input) ? `error decoding patch: ${why}` : 'Invalid JSON Patch'))
  const before = yield* documentOf(input, live)
  const { document, strict } = yield* inParts(() => applyMergePatch(before, patch, checks(input)))
  return yield* tracked(input, live, yield* decodeDocument(input, document, strict))
}

const checks = ({ fieldValidation }: PatchInput) => fieldValidation !== 'Ignore'

function mustExist({ live, resource, name }: PatchInput): KubeObject {
  if (live === undefined) throw notFound(resource, name)
  return live
}

function* parse({ body }: PatchInput, text: (why: string) => string): Steps<JsonTree> {
  try {
    return yield* parsingJsonBytes(body, MAX_NESTING)
  } catch (error) {
    throw error instanceof JsonSyntaxError ? badRequest(text(error.message)) : error
  }
}

/** The live object in the JSON form that a client gets. */
const documentOf = ({ type }: PatchInput, live: KubeObject): Steps<JsonTree> =>
  // an API object is JSON
  inParts(() => asWritten(type, live as unknown as JsonObject) as JsonTree)

function* decodeDocument(input: PatchInput, document: JsonTree, strict: readonly string[]): Steps<KubeObject> {
  let decoded: Decoded
  try {
    const copy = yield* inParts(() => copyOf(document))
    decoded = yield* inParts(() => input.decode(copy))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw invalidPatch(treeText(document), error.message)
  }
  report(input, [...strict, ...decoded.strict], () => treeText(document))
  decoded.check?.()
  const object = asObject(decoded.object)
  keepEmptyManagedFields(input.type, document, object)
  return object
}

// decoding sets the metadata that every kind has which is stored
const asObject = (object: JsonObject) => object as unknown as KubeObject

/** 422 about the field `patch`. kube-apiserver leaves out kind and name of the object. */
const invalidPatch = (value: string, detail: string) =>
  invalid({ group: '', kind: '' }, '', [invalidValue(path('patch'), value, detail)])

/** Unknown and repeated fields are errors, warnings, or ignored. */
function report(input: PatchInput, strict: readonly string[], value: () => string): void {
  if (strict.length === 0 || input.fieldValidation === 'Ignore') return
  if (input.fieldValidation === 'Strict') throw invalidPatch(value(), `strict decoding error: ${strict.join(', ')}`)
  strict.forEach((text) => input.warn(text))
}

function* tracked(input: PatchInput, live: KubeObject, patched: KubeObject): Steps<KubeObject> {
  const object = input.afterConversion?.(patched) ?? patched
  const { type, kind, manager, subresource, now, resetFields, convert } = input
  yield* inParts(() => goesInParts() && checkLeastSize(object))
  const managedFields = yield* tracking({
    type,
    live,
    object,
    manager,
    apiVersion: apiVersionOf(kind),
    subresource,
    now,
    resetFields,
    convert,
    failed: (error) => input.untracked(error),
  })
  const metadata = withFields(object.metadata, {})
  if (managedFields === undefined) delete metadata.managedFields
  else metadata.managedFields = managedFields
  return withFields(object, { metadata })
}

function* strategicMergePatch(input: PatchInput): Steps<KubeObject> {
  const live = mustExist(input)
  const { type, kind } = input
  const tree = yield* parse(input, (why) => why)
  const strict = checks(input) ? yield* inParts(() => repeatedMembers(tree)) : []
  const patch = yield* inParts(() => withoutRepeats(tree))
  const document = yield* documentOf(input, live)
  const copy = yield* inParts(() => copyOf(document) as PatchMap)
  const patched = yield* applyingStrategicMergePatch(type, copy, patch)
  let converted: Decoded
  try {
    converted = yield* inParts(() => fromUnstructured(type, patched))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw invalidPatch(yield* inParts(() => goValue(patch)), error.message)
  }
  report(input, [...strict, ...converted.strict], () => goValue(patch))
  const { object } = converted
  yield* inParts(() => input.applyDefaults(object))
  const typed = asObject(withKind(object, kind))
  keepEmptyManagedFields(type, patched as JsonTree, typed)
  return yield* tracked(input, live, typed)
}

function repeatedMembers(tree: JsonTree): readonly string[] {
  try {
    return decodeUnstructured(kept(tree, () => copyOf(tree))).strict
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error
  }
}

/** Of repeated members the last one counts. */
function withoutRepeats(tree: JsonTree): PatchMap {
  const flat = (node: JsonTree): JsonTree => {
    const open = openedInParts(node)
    if (open === undefined) return node
    if (!('members' in open)) return mapParts(open.items, (item) => flat(closed(item)))
    const { members } = open
    const map = kept(node, (): { [name: string]: JsonTree } => ({}))
    eachName(members, namesOf, (name) => setOwn(map, name, flat(members.get(name) as JsonTree)))
    return map
  }
  // a patch of `null` changes nothing
  if (tree === null) return {}
  if (!isMap(tree))
    throw badRequest(`json: cannot unmarshal ${jsonKind(tree)} into Go value of type map[string]interface {}`)
  return flat(tree) as PatchMap
}

const namesOf = (members: ReadonlyMap<string, unknown>): string[] => [...members.keys()]

/** Go's name for a JSON value that is no object, in its errors. */
const jsonKind = (tree: JsonTree): string =>
  Array.isArray(tree) ? 'array' : typeof tree === 'string' ? 'string' : typeof tree === 'boolean' ? 'bool' : 'number'

function* applyPatch(input: PatchInput): Steps<KubeObject> {
  const { type, kind, live, manager, force, subresource, now, resetFields, convert } = input
  const { tree, repeated } = yield* parseConfiguration(input)
  const copy = yield* inParts(() => copyOf(tree))
  const config = yield* inParts(() => configurationOf(copy))
  const object = yield* applying({
    type,
    kind,
    live,
    config,
    manager,
    force,
    subresource,
    now,
    resetFields,
    convert,
    unconvertible:
      input.hasInternalType === false
        ? `request to convert CR to an invalid group/version: ${apiVersionOf(kind)}`
        : undefined,
    toObject: (merged) => asObject(mergedObject(type, kind, merged, input)),
  })
  if (live === undefined && object.metadata.uid)
    throw conflict(
      input.resource,
      input.name,
      `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`,
    )
  if (input.fieldValidation === 'Strict' && repeated.length > 0)
    throw badRequest(`error strict decoding YAML: ${yamlText(repeated)}`)
  if (input.fieldValidation === 'Warn') repeated.forEach((text) => input.warn(text))
  return object
}

const yamlText = (repeated: readonly string[]) =>
  `error converting YAML to JSON: yaml: unmarshal errors:\n${repeated.map((text) => `  ${text}`).join('\n')}`

function* parseConfiguration(input: PatchInput): Steps<{ tree: JsonTree; repeated: readonly string[] }> {
  try {
    return yield* input.readApplied(input.body)
  } catch (error) {
    if (error instanceof StatusError) throw error
    throw badRequest(`error decoding YAML: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function configurationOf(tree: JsonTree): JsonObject {
  const value = plainJson(tree) ?? {}
  if (typeof value === 'object' && !Array.isArray(value)) return value
  const kind = Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'string'
        ? 'string'
        : 'number'
  throw badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
  )
}
