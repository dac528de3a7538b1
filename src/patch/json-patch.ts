/**
 * JSON patch (RFC 6902), as lenient as evanphx/json-patch is: negative indices count from the end, `replace` of an
 * absent member adds it, a `test` of an absent member against null passes. All operations apply, or none does.
 */
import { byteLength } from '../api/utf8.ts'
import { StatusError, badRequest, requestEntityTooLarge } from '../api/status.ts'
import { DecodeError, decodeObject, decodeUnstructured } from '../codec/decode.ts'
import { MAX_NESTING, NumberLiteral, nestsDeeper, parseJson, quoteJson } from '../api/json.ts'
import type { JsonTree } from '../api/json.ts'
import type { Field, Leaf, Structural, StructType } from '../schema/structural.ts'
import { OpenMap, closed, copyOf, nodesEqual, opened, treeText } from './json-document.ts'
import type { Container, DocumentNode } from './json-document.ts'

const MAX_OPERATIONS = 10_000
/** Bytes by which the `copy` operations of one patch may make a document grow. */
const MAX_COPIED = 3 * 1024 * 1024

export interface JsonPatch {
  readonly operations: readonly Operation[]
  /** `json patch unknown field "[0].comment"` */
  readonly strict: readonly string[]
}

/** Members of no use are left out. A member is undefined where it is absent or can't be used. */
interface Operation {
  readonly op: string | undefined
  readonly path: string | undefined
  readonly from: string | undefined
  readonly value: JsonTree | undefined
  /** The reference compares texts: a string of another spelling is not what the live object has (`<` for `\u003c`). */
  readonly isSpelledAsStored: boolean
}

/**
 * @param checks members are looked at for unknown names and wrong types, as every fieldValidation but Ignore has it
 * @throws StatusError 400 where it is no JSON patch, 413 where it is too long
 */
export function readJsonPatch(tree: JsonTree, checks: boolean, text = ''): JsonPatch {
  const strict = checks ? checkOperations(tree) : []
  const list = tree === null ? [] : tree
  if (!Array.isArray(list))
    throw badRequest(`json: cannot unmarshal ${kindOf(tree)} into Go value of type jsonpatch.Patch`)
  const spelled = unusual.test(text) ? parseJson(text.replace(escapes, keepEscape)) : undefined
  const operations = list.map((operation, at) => ({
    ...readOperation(operation),
    isSpelledAsStored: spelled === undefined || isSpelledAsStored(valueAt(list, at), valueAt(spelled, at)),
  }))
  if (operations.length > MAX_OPERATIONS)
    throw requestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    )
  return { operations, strict }
}

/** Characters that can be spelled in more than one way. */
const unusual = /[\\<>&\u2028\u2029]/
const escapes = /\\(.)/gs
/** A text in which every string, once parsed, is the way in which it was spelled. */
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
    return tree.flatMap((operation, at) =>
      [...decodeObject(operationType, copyOf(operation)).strict, ...repeatedInValue(operation)].map(
        (text) => `json patch ${text.replace('"', `"[${at}].`)}`,
      ),
    )
  } catch (error) {
    throw error instanceof DecodeError ? undecodable(error.message) : error
  }
}

function repeatedInValue(operation: JsonTree): readonly string[] {
  const value = operation === null ? undefined : readOperation(operation).value
  return value === undefined ? [] : decodeUnstructured({ value: copyOf(value) }).strict
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
    value: members.get('value') as JsonTree | undefined, // nothing of it has been opened
    isSpelledAsStored: true,
  }
}

/** What the reference decodes a patch into, for the sake of its complaints. */
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
    name: 'handlers.jsonPatchOp',
    goType: 'handlers.jsonPatchOp',
    typeMeta: false,
    mapType: 'granular',
    fields,
    field: (name) => fields.find((field) => field.name === name),
  }
})()

/**
 * @throws StatusError 422, without a reason that says more, when an operation can't be done
 */
export function applyJsonPatch(document: JsonTree, patch: JsonPatch): JsonTree {
  const tooDeep = () => badRequest('exceeded max depth')
  let patched: JsonTree
  try {
    patched = applied(document, patch)
  } catch (error) {
    // each operation can nest the document deeper: between two of them it may be beyond what the stack holds
    throw error instanceof RangeError ? tooDeep() : error
  }
  if (nestsDeeper(patched, MAX_NESTING)) throw tooDeep()
  return patched
}

function applied(document: JsonTree, { operations }: JsonPatch): JsonTree {
  let root = opened(document)
  if (root === undefined) throw rejected()
  const budget = { copied: 0 }
  let isAsStored = true
  for (const operation of operations) {
    if (operation.op !== 'test') isAsStored = false
    else if (isAsStored && !operation.isSpelledAsStored) throw rejected()
    root = applyOperation(root, operation, budget)
  }
  return closed(root)
}

/** The reference tells the reason to nobody. */
export const rejected = () =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

function applyOperation(root: Container, operation: Operation, budget: { copied: number }): Container {
  const { path, value } = operation
  switch (operation.op) {
    case 'add':
      add(find(root, path), value ?? null)
      return root
    case 'remove':
      remove(find(root, path))
      return root
    case 'replace': {
      if (path === '') return opened(value ?? null) ?? fail()
      const place = find(root, path)
      get(place)
      put(place, value ?? null)
      return root
    }
    case 'move': {
      const from = find(root, operation.from)
      const moved = get(from)
      remove(from)
      add(find(root, path), moved ?? null)
      return root
    }
    case 'copy': {
      const copied = get(find(root, operation.from))
      const place = find(root, path)
      const copy = closed(copied ?? null)
      budget.copied += copied === undefined ? 0 : byteLength(treeText(copy))
      if (budget.copied > MAX_COPIED) fail()
      add(place, copy)
      return root
    }
    case 'test':
      if (path === '' ? !nodesEqual(root, value ?? null) : !isEqual(get(find(root, path)), value)) fail()
      return root
    default:
      return fail()
  }
}

function fail(): never {
  throw rejected()
}

/** A value that is absent equals null and nothing; one that is there doesn't. */
const isEqual = (found: DocumentNode | undefined, value: JsonTree | undefined): boolean =>
  found === undefined || found === null
    ? value === undefined || value === null
    : value !== undefined && value !== null && nodesEqual(found, value)

/** A member of an object or an element of a list, which need not exist. */
interface Place {
  readonly container: Container
  readonly key: string
}

function find(root: Container, pointer: string | undefined): Place {
  if (pointer === undefined) return fail()
  // what stands before the first slash does not count
  const [, ...parts] = pointer.split('/')
  const key = parts.pop()
  if (key === undefined) return fail()
  let container = root
  for (const part of parts) {
    const place = { container, key: unescaped(part) }
    const inner = opened(get(place) ?? null)
    if (inner === undefined) return fail()
    put(place, inner)
    container = inner
  }
  return { container, key: unescaped(key) }
}

/** One pass from left to right: `~01` is `~1`. */
const unescaped = (part: string) => part.replace(/~[01]/g, (escape) => (escape === '~1' ? '/' : '~'))

function get({ container, key }: Place): DocumentNode | undefined {
  if (container instanceof OpenMap) return container.members.get(key)
  const at = indexOf(key, container.items.length)
  return at < container.items.length ? container.items[at] : fail()
}

/** Go's Atoi: a sign and leading zeros are fine. Negative ones count from the end. */
function indexOf(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key)) return fail()
  const at = Number(key)
  if (!Number.isSafeInteger(at) || at < -length) return fail()
  return at < 0 ? at + length : at
}

/** Puts a value where `get` found one. */
function put({ container, key }: Place, value: DocumentNode): void {
  if (container instanceof OpenMap) container.members.set(key, value)
  else container.items[indexOf(key, container.items.length)] = value
}

function add({ container, key }: Place, value: DocumentNode): void {
  if (container instanceof OpenMap) {
    container.members.set(key, value)
    return
  }
  const { items } = container
  const at = key === '-' ? items.length : indexOf(key, items.length + 1)
  if (at > items.length) fail()
  items.splice(at, 0, value)
}

function remove({ container, key }: Place): void {
  if (container instanceof OpenMap) {
    if (!container.members.delete(key)) fail()
    return
  }
  const at = indexOf(key, container.items.length)
  if (at >= container.items.length) fail()
  container.items.splice(at, 1)
}
