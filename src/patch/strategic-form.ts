/** The form of a strategic merge patch: its directives, where each is allowed, and the schema of a member. */
import { Pace } from '../base/pace.ts'
import type { Steps } from '../base/slices.ts'
import { badRequest, plainError } from '../api/status.ts'
import { goQuote } from '../go/quote.ts'
import { goTypeOf } from '../schema/go-type.ts'
import { NumberLiteral } from '../json/numbers.ts'
import type { JsonTree } from '../json/json.ts'
import type { Field, PatchStrategy, Structural } from '../schema/structural.ts'
import { goString, goType, goValue } from '../go/value.ts'
import { PatchRejection } from './json-patch-operations.ts'

export type PatchMap = { [name: string]: JsonTree | undefined }

export const DIRECTIVE = '$patch'
export const RETAIN_KEYS = '$retainKeys'
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList'
export const ELEMENT_ORDER = '$setElementOrder'

export const badFormat = (of: string) => badRequest(`invalid patch format of ${of}`)

export const unknownDirective = (directive: JsonTree, patch: PatchMap) =>
  plainError(`unknown patch type: ${goString(directive)} in map: ${goValue(patch)}`)

export const listOrNothing = (value: JsonTree | undefined): JsonTree[] | undefined => {
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw badArgument('[]interface {}', value)
  return value
}

export const badArgument = (expected: string, value: JsonTree) =>
  // Go prints the type of nothing as %!s(<nil>)
  plainError(`expected a ${expected}, but received a ${value === null ? '%!s(<nil>)' : goType(value)}`)

export function nameIn(directive: string, prefix: string): string {
  const slash = directive.indexOf('/')
  if (slash < 0 || directive.slice(0, slash) !== prefix)
    throw badFormat(prefix === ELEMENT_ORDER ? 'setElementOrder list' : 'primitive list')
  return directive.slice(slash + 1)
}

export function isDeletion(item: JsonTree): boolean {
  if (!isPatchMap(item)) throw badArgument('map[string]interface {}', item)
  return item[DIRECTIVE] === 'delete'
}

export const goKindOfType = (type: Structural) =>
  type.shape === 'struct' || type.shape === 'special' ? 'struct' : type.shape === 'map' ? 'map' : 'string'

/** Returns the first element. All elements must have one type, which is not a list. */
export function* sameTypes(live: readonly JsonTree[], sent: readonly JsonTree[], pace: Pace): Steps<JsonTree> {
  const all = [...live, ...sent]
  const [first] = all
  if (first === undefined) throw plainError('no elements in any of the given slices')
  if (Array.isArray(first)) throw new PatchRejection('an element of a list is a list')
  const type = goType(first)
  for (const item of all) {
    if (pace.isOver()) yield
    if (goType(item) === type) continue
    throw plainError(`list element types are not identical: ${goValue([[...live], [...sent]])}`)
  }
  return first
}

interface Member {
  readonly type: Structural
  readonly strategy: PatchStrategy
}

interface ListMember {
  readonly element: Structural
  readonly strategy: PatchStrategy
  readonly mergeKey: string
}

const noStrategy: PatchStrategy = { merge: false, replace: false, retainKeys: false }

function fieldOf(type: Structural, name: string): Field | undefined {
  return type.shape === 'struct' ? type.field(name) : undefined
}

export function mapMember(type: Structural, name: string): Member {
  const field = fieldOf(type, name)
  if (field !== undefined) return { type: field.type, strategy: field.patchStrategy }
  return { type: memberOfMap(type, name), strategy: noStrategy }
}

export function listMember(type: Structural, name: string): ListMember {
  const field = fieldOf(type, name)
  const list = field?.type ?? memberOfMap(type, name)
  return {
    // where the type is no list, Go takes it for the type of the elements
    element: list.shape === 'list' ? list.element : list,
    strategy: field?.patchStrategy ?? noStrategy,
    mergeKey: field?.mergeKey ?? '',
  }
}

/** @throws StatusError 500 where the type has no such field */
function memberOfMap(type: Structural, name: string): Structural {
  if (type.shape === 'struct' || type.shape === 'special')
    throw plainError(
      `unable to find api field in struct ${goTypeOf(type).split('.').pop()} for the json field ${goQuote(name)}`,
    )
  throw plainError(`merging an object in json but data type is not struct, instead is: ${goKindOfType(type)}`)
}

export const isPatchMap = (value: JsonTree | undefined): value is PatchMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberLiteral)
