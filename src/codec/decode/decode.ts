/** Decodes parsed JSON into an object of a kind, and finds the kind of a body. */
import type { JsonTree } from '../../json/json.ts'
import { RepeatedMembers } from '../../json/json.ts'
import { NumberLiteral } from '../../json/numbers.ts'
import type { HeldAs, StructType } from '../../schema/structural.ts'
import { decodeCustomObject } from './decode-custom.ts'
import { TypeMismatch } from './decode-problems.ts'
import { decodeTyped } from './decode-typed.ts'
import type { Decoded } from './decoded.ts'
import { kindOf } from '../protobuf/json-kinds.ts'

const decoders = {
  typed: decodeTyped,
  unstructured: decodeCustomObject,
} satisfies Record<HeldAs, (type: StructType, tree: JsonTree) => Decoded>

/**
 * @param tree a parsed body, or any JSON value; parts of it may become parts of the object
 * @throws {DecodeError}
 */
export const decodeObject = (type: StructType, tree: JsonTree): Decoded => decoders[type.heldAs](type, tree)

const META_TYPE = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`

/**
 * Finds apiVersion and kind of a body, before its type is known; absent ones are empty. Like kube-apiserver, it ignores
 * the case of the two names.
 * @throws {DecodeError}
 */
export function findKind(tree: JsonTree): { apiVersion: string; kind: string } {
  const found = { apiVersion: '', kind: '' }
  if (tree === null) return found
  if (typeof tree !== 'object' || Array.isArray(tree) || tree instanceof NumberLiteral)
    throw new TypeMismatch(kindOf(tree), META_TYPE)
  let mismatch: TypeMismatch | undefined
  for (const [name, value] of membersOf(tree)) {
    const known = name.toLowerCase()
    const member = known === 'apiversion' ? 'apiVersion' : known === 'kind' ? 'kind' : undefined
    if (member === undefined || value === null || value === undefined) continue
    if (typeof value === 'string') found[member] = value
    else mismatch ??= new TypeMismatch(kindOf(value), 'string', '', member)
  }
  if (mismatch !== undefined) throw mismatch
  return found
}

/** The members in order. An undefined member of an object that was made in memory counts as absent. */
const membersOf = (
  tree: RepeatedMembers | { [name: string]: JsonTree | undefined },
): Iterable<[string, JsonTree | undefined]> => (tree instanceof RepeatedMembers ? tree.entries : Object.entries(tree))
