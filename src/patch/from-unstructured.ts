/**
 * Makes an object of a built-in type from a tree of maps, as kube-apiserver converts the result of a strategic merge
 * (apimachinery's pkg/runtime converter). It accepts more numbers than JSON decoding does, and has its own error
 * texts.
 */
import type { JsonObject } from '../api/object.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { eachName, kept, mapParts } from '../base/parts.ts'
import { decodeObject } from '../codec/decode/decode.ts'
import { decodeValue } from '../codec/decode/decode-typed.ts'
import { goTypeOf } from '../schema/go-type.ts'
import { DecodeError } from '../codec/decode/decode-problems.ts'
import { plainJson } from '../json/json.ts'
import { NumberLiteral } from '../json/numbers.ts'
import type { JsonTree } from '../json/json.ts'
import type { Leaf, Structural, StructType } from '../schema/structural.ts'
import { compareText } from '../json/value-order.ts'
import { goKind, goType } from '../go/value.ts'
import { sortedCopyOf } from './json-document.ts'

export interface Converted {
  readonly object: JsonObject
  /** `unknown field "spec.x"`, sorted. */
  readonly strict: readonly string[]
}

/** @throws DecodeError with the text of kube-apiserver's converter */
export function fromUnstructured(type: StructType, tree: JsonTree): Converted {
  const unknown = kept(tree, (): string[] => [])
  const converted = kept(tree, () => convert(type, tree, '', unknown))
  return {
    object: decodeObject(type, converted).object,
    strict: unknown.toSorted(compareText).map((path) => `unknown field "${path}"`),
  }
}

type Tree = { [name: string]: JsonTree | undefined }

function convert(type: Structural, tree: JsonTree, path: string, unknown: string[]): JsonTree {
  if (tree === null) return null
  switch (type.shape) {
    case 'leaf':
      return type.scalar === 'bytes' ? convertBytes(tree) : convertScalar(type, tree)
    case 'special':
      // these types decode themselves from the JSON of a Go map, and fail with the errors of JSON decoding
      return withNumbers(type, tree)
    case 'list':
      if (!Array.isArray(tree)) throw new DecodeError(`cannot restore slice from ${goKind(tree)}`)
      return mapParts(tree, (item, at) => convert(type.element, item, `${path}[${at}]`, unknown))
    case 'map': {
      if (goKind(tree) !== 'map') throw new DecodeError(`cannot restore map from ${goKind(tree)}`)
      // paths do not contain keys of maps, so unknown fields below are reported without them
      return mapped(tree as Tree, (_, value) => convert(type.value, value, path, unknown))
    }
    case 'struct':
      return convertStruct(type, tree, path, unknown)
    case 'untyped':
      return tree
  }
}

function convertStruct(type: StructType, tree: JsonTree, path: string, unknown: string[]): JsonTree {
  if (goKind(tree) !== 'map') throw new DecodeError(`cannot restore struct from: ${goKind(tree)}`)
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const known: Tree = {}
  const members = tree as Tree
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    const isMeta = type.typeMeta && (name === 'kind' || name === 'apiVersion')
    if (isMeta) known[name] = convertScalar(text, value)
    else if (type.field(name) === undefined) kept(members, () => unknown.push(at(name)))
  }
  // errors come in the order of the struct's fields
  for (const field of type.fields) {
    const value = ownValue(members, field.name)
    if (value !== undefined) setOwn(known, field.name, convert(field.type, value, at(field.name), unknown))
  }
  return known
}

function withNumbers(type: Structural, tree: JsonTree): JsonTree {
  const plain = plainJson(kept(tree, () => sortedCopyOf(tree)))
  decodeValue(type, plain)
  return plain
}

const text: Leaf = { shape: 'leaf', scalar: 'string' }

function mapped(map: Tree, convertMember: (name: string, value: JsonTree) => JsonTree): Tree {
  const converted = kept(map, (): Tree => ({}))
  eachName(map, Object.keys, (name) => {
    const value = map[name]
    if (value !== undefined) setOwn(converted, name, convertMember(name, value))
  })
  return converted
}

/**
 * Go converts strings, booleans and numbers to another type of the same group. Whole numbers that are too big lose
 * their upper bits.
 */
function convertScalar(type: Leaf, tree: JsonTree): JsonTree {
  if (tree === null) return null
  const source = goType(tree)
  switch (type.scalar) {
    case 'string':
      if (source === 'string') return tree
      // Go would convert a whole number to the string of its code point; kube-apiserver's converter does not
      throw source === 'int64' ? cannotConvert(source, type) : unrecognized(type)
    case 'bool':
      if (source === 'bool') return tree
      throw unrecognized(type)
    case 'int32':
    case 'int64':
      if (source === 'int64') return wrapped(type, tree as number | bigint)
      if (source !== 'float64') throw unrecognized(type)
      if (!Number.isInteger(numberOf(tree))) throw cannotConvert(source, type)
      return wrapped(type, wholeFloat(numberOf(tree)))
    default:
      if (source === 'int64' || source === 'float64') return numberOf(tree)
      throw unrecognized(type)
  }
}

const unrecognized = (type: Leaf) =>
  new DecodeError(`unrecognized type: ${goTypeOf({ shape: 'leaf', scalar: type.scalar })}`)
const cannotConvert = (source: string, type: Leaf) => new DecodeError(`cannot convert ${source} to ${goTypeOf(type)}`)

const numberOf = (tree: JsonTree): number => Number(tree instanceof NumberLiteral ? tree.text : tree)

/** A float that is too big for 64 bits becomes the value that processors return. */
const wholeFloat = (value: number): bigint => (Math.abs(value) < 2 ** 63 ? BigInt(value) : -(2n ** 63n))

function wrapped(type: Leaf, value: number | bigint): JsonTree {
  const kept = BigInt.asIntN(type.scalar === 'int32' ? 32 : 64, BigInt(value))
  const small = Number(kept)
  return Number.isSafeInteger(small) ? small : kept
}

function convertBytes(tree: JsonTree): JsonTree {
  if (typeof tree !== 'string') {
    if (!Array.isArray(tree)) throw new DecodeError(`cannot restore slice from ${goKind(tree)}`)
    return tree
  }
  try {
    decodeValue(bytes, tree)
  } catch (error) {
    throw error instanceof DecodeError ? new DecodeError(`error decoding from json: ${error.message}`) : error
  }
  return tree
}

const bytes: Leaf = { shape: 'leaf', scalar: 'bytes' }
