/**
 * JSON patch (RFC 6902), as lenient as evanphx/json-patch is: negative indices count from the end, `replace` of an
 * absent member adds it, a `test` of an absent member against null passes. All operations apply, or none does.
 */
import { flatMapParts, kept, mapParts } from '../base/parts.ts'
import { badRequest, requestEntityTooLarge } from '../api/status.ts'
import { decodeObject } from '../codec/decode/decode.ts'
import { decodeUnstructured } from '../codec/decode/decode-untyped.ts'
import { DecodeError, TypeMismatch } from '../codec/decode/decode-problems.ts'
import { quoteJson } from '../json/write-json.ts'
import { parseJson } from '../json/parse-json.ts'
import { NumberLiteral } from '../json/numbers.ts'
import type { JsonTree } from '../json/json.ts'
import type { Field, Leaf, Structural, StructType } from '../schema/structural.ts'
import { OpenMap, closed, copyOf, opened } from './json-document.ts'
import type { Container, DocumentNode } from './json-document.ts'

const MAX_OPERATIONS = 10_000

/** The weight of an operation in `PART`: each is decoded twice. */
const OPERATION = 8

export interface JsonPatch {
  readonly operations: readonly Operation[]
  /** `json patch unknown field "[0].comment"` */
  readonly strict: readonly string[]
}

/** Operations ignore other members. A member is undefined where it is absent or has the wrong type. */
export interface Operation {
  readonly op: string | undefined
  readonly path: string | undefined
  readonly from: string | undefined
  readonly value: JsonTree | undefined
  /**
   * False where a string is escaped in another way than in the live object (`<` for `\u003c`). kube-apiserver
   * compares the texts, so such a `test` fails.
   */
  readonly isSpelledAsStored: boolean
}

/**
 * @param checks whether to look for unknown names and wrong types; every fieldValidation but Ignore does
 * @throws StatusError 400 where the tree is no JSON patch, 413 where the patch is too long
 */
export function readJsonPatch(tree: JsonTree, checks: boolean, text = ''): JsonPatch {
  const strict = checks ? checkOperations(tree) : []
  const list = tree === null ? [] : tree
  if (!Array.isArray(list))
    throw badRequest(`json: cannot unmarshal ${kindOf(tree)} into Go value of type jsonpatch.Patch`)
  const spelled = kept(list, () => (unusual.test(text) ? parseJson(text.replace(escapes, keepEscape)) : undefined))
  const operations = mapParts(
    list,
    (operation, at) => ({
      ...readOperation(operation),
      isSpelledAsStored: spelled === undefined || isSpelledAsStored(valueAt(list, at), valueAt(spelled, at)),
    }),
    OPERATION,
  )
  if (operations.length > MAX_OPERATIONS)
    throw requestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    )
  return { operations, strict }
}

/** Characters that have more than one spelling in JSON. */
const unusual = /[\\<>&\u2028\u2029]/
const escapes = /\\(.)/gs
/** Escapes a text so that parsing its strings returns their original spelling. */
const keepEscape = (escape: string, character: string) =>
  character === '"' || character === '\\' ? `\\\\\\${character}` : `\\${escape}`

function valueAt(list: JsonTree, at: number): JsonTree | undefined {
  const operation = Array.isArray(list) ? list[at] : undefined
  return operation === undefined || operation === null ? undefined : readOperation(operation).value
}

function isSpelledAsStored(value: JsonTree | undefined, spelled: JsonTree | undefined): boolean {
  if (typeof value === 'string') return typeof spelled === 'string' && quoteJson(value) === `"${spelled}"`
  const [values, spellings] = [opened(value ?? null), opened(spelled ?? null)]
  if (values === undefined || spellings === undefined) return true
  const [ours, theirs] = [childrenOf(values), childrenOf(spellings)]
  return ours.every((child, at) => isSpelledAsStored(closed(child), closed(theirs[at] ?? null)))
}

const childrenOf = (container: Container): DocumentNode[] =>
  container instanceof OpenMap ? [...container.members.values()] : container.items

function checkOperations(tree: JsonTree): string[] {
  if (tree === null) return []
  if (!Array.isArray(tree))
    throw undecodable(`json: cannot unmarshal ${kindOf(tree)} into Go value of type []handlers.jsonPatchOp`)
  try {
    return flatMapParts(
      tree,
      (operation, at) => {
        const copy = kept(operation, () => copyOf(operation))
        return [...decodeObject(operationType, copy).strict, ...repeatedInValue(operation)].map(
          (text) => `json patch ${text.replace('"', `"[${at}].`)}`,
        )
      },
      OPERATION,
    )
  } catch (error) {
    throw error instanceof DecodeError ? undecodable(placed(error).message) : error
  }
}

/** A number beyond float64 can be in the value of an operation alone. */
const placed = (error: DecodeError): DecodeError =>
  error instanceof TypeMismatch && error.goType === 'float64'
    ? new TypeMismatch(error.value, error.goType, 'jsonPatchOp', 'value')
    : error

function repeatedInValue(operation: JsonTree): readonly string[] {
  const value = operation === null ? undefined : readOperation(operation).value
  return value === undefined ? [] : decodeUnstructured(kept(operation, () => ({ value: copyOf(value) }))).strict
}

const undecodable = (why: string) => badRequest(`error decoding patch: ${why}`)

const kindOf = (tree: JsonTree): string => {
  if (Array.isArray(tree)) return 'array'
  if (tree instanceof NumberLiteral || typeof tree === 'bigint' || typeof tree === 'number') return 'number'
  return typeof tree === 'boolean' ? 'bool' : typeof tree
}

function readOperation(tree: JsonTree): Operation {
  if (tree === null)
    return { op: undefined, path: undefined, from: undefined, value: undefined, isSpelledAsStored: true }
  const open = opened(tree)
  if (!(open instanceof OpenMap))
    throw badRequest(`json: cannot unmarshal ${kindOf(tree)} into Go value of type jsonpatch.Operation`)
  const { members } = open
  const text = (name: string) => {
    const value = members.get(name)
    return typeof value === 'string' ? value : undefined
  }
  return {
    op: text('op'),
    path: text('path'),
    from: text('from'),
    value: members.get('value') as JsonTree | undefined, // no operation has opened it yet
    isSpelledAsStored: true,
  }
}

/** The type into which kube-apiserver decodes an operation. Its fields decide which complaints there are. */
const operationType = ((): StructType => {
  const text: Leaf = { shape: 'leaf', scalar: 'string' }
  const fields: Field[] = (
    [
      ['op', text],
      ['path', text],
      ['from', text],
      ['value', { shape: 'untyped' }],
    ] as [string, Structural][]
  ).map(([name, type], at) => ({
    name,
    type,
    omit: 'never',
    pointer: false,
    required: false,
    patchStrategy: { merge: false, replace: false, retainKeys: false },
    number: at,
    within: [],
    embeddedIn: [],
  }))
  return {
    shape: 'struct',
    heldAs: 'typed',
    name: 'handlers.jsonPatchOp',
    goType: 'handlers.jsonPatchOp',
    typeMeta: false,
    mapType: 'granular',
    fields,
    field: (name) => fields.find((field) => field.name === name),
  }
})()
