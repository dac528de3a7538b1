/**
 * Evaluates a JSONPath on a JSON value like client-go (util/jsonpath). A path to an absent field has no results. An
 * expression that does not fit the value is an error.
 */
import type { Json } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { compareNames } from '../../base/name-order.ts'
import type { JsonPath, Node, Path } from './parse-json-path.ts'
import { JsonPathError } from './parse-json-path.ts'

/**
 * The values that an evaluation may still visit. Without a bound, `..a..a` and `['a','a']['a','a']` multiply their
 * results.
 */
export interface Visits {
  left: number
}

/** A bound on visited values. An expression that passes once through the largest possible object visits fewer. */
const MOST_VISITS = 1_000_000

/** The evaluation visits more values than it may. */
class TooManyVisits extends JsonPathError {
  constructor() {
    super('it finds too much')
  }
}

/** The budget of the current evaluation. */
let visits: Visits = { left: 0 }

function visit(values: number): void {
  visits.left -= values
  if (visits.left < 0) throw new TooManyVisits()
}

/**
 * Evaluates all expressions, and returns the results of the first.
 * @param most the budget of visits; several templates may share one
 * @throws {JsonPathError} when one of the expressions can't be evaluated
 */
export function firstResults({ parts }: JsonPath, root: Json, most: Visits = { left: MOST_VISITS }): readonly Json[] {
  visits = most
  const [first = []] = parts.map((path) => evaluate(path, [root]))
  return first
}

/** Whether the path may visit many values. Other paths follow one field after the other. */
export const looksAround = ({ parts }: JsonPath): boolean => parts.some((path) => path.some(isManyfold))

const isManyfold = (node: Node): boolean =>
  node.kind === 'wildcard' ||
  node.kind === 'recursive' ||
  node.kind === 'filter' ||
  node.kind === 'union' ||
  (node.kind === 'slice' && !node.derived)

function evaluate(path: Path, input: readonly Json[]): readonly Json[] {
  return path.reduce((values, node) => step(node, values), input)
}

export function step(node: Node, input: readonly Json[]): readonly Json[] {
  visit(input.length)
  switch (node.kind) {
    case 'literal':
      return typeof node.value === 'string' ? [node.value] : input.map(() => node.value)
    case 'field':
      return input.flatMap((value) => {
        if (!isJsonObject(value) || !Object.hasOwn(value, node.name)) return []
        return [ownValue(value, node.name) ?? null]
      })
    case 'slice':
      return slices(node, input)
    case 'filter':
      return input.flatMap((value) => filtered(node, value))
    case 'wildcard':
      return input.flatMap(children)
    case 'recursive':
      return input.flatMap((value) => descendants(value))
    case 'union':
      return node.paths.flatMap((path) => evaluate(path, input))
    case 'identifier':
      throw new JsonPathError(`unrecognized identifier ${node.name}`)
  }
}

function slices(node: Node & { kind: 'slice' }, input: readonly Json[]): Json[] {
  const out: Json[] = []
  for (const value of input) {
    if (value === null) continue
    if (!Array.isArray(value)) throw new JsonPathError('not array or slice')
    const { length } = value
    let from = node.from ?? 0
    if (from < 0) from += length
    let to = node.to ?? length
    if (to < 0 || (to === 0 && node.derived)) to += length
    // like client-go, an empty slice ends the loop over the other lists
    if (to === from) return out
    if (from >= length || from < 0)
      throw new JsonPathError(`array index out of bounds: index ${from}, length ${length}`)
    if (to > length || to < 0) throw new JsonPathError(`array index out of bounds: index ${to - 1}, length ${length}`)
    if (from > to) throw new JsonPathError(`starting index ${from} is greater than ending index ${to}`)
    const every = node.step ?? 1
    if (every <= 0) throw new JsonPathError('step must be > 0')
    visit((to - from) / every)
    for (let at = from; at < to; at += every) out.push(value[at]!)
  }
  return out
}

const encoder = new TextEncoder()

function children(value: Json): Json[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') {
    visit(value.length)
    return [...encoder.encode(value)]
  }
  return isJsonObject(value) ? Object.values(value).map((child) => child ?? null) : []
}

/** The value and all values inside of it, without those that contain nothing. */
function descendants(value: Json, found: Json[] = []): Json[] {
  visit(1)
  // the children of a text are numbers (bytes), which contain nothing
  if (typeof value === 'string') {
    if (value !== '') found.push(value)
    return found
  }
  const below = children(value)
  if (below.length === 0) return found
  found.push(value)
  for (const one of below) descendants(one, found)
  return found
}

function filtered({ left, operator, right }: Node & { kind: 'filter' }, value: Json): Json[] {
  if (!Array.isArray(value)) throw new JsonPathError('not array or slice and cannot be filtered')
  visit(value.length)
  return value.filter((element) => {
    if (operator === 'exists') return exists(left, element)
    const lefts = evaluate(left, [element])
    if (lefts.length === 0) return false
    const rights = evaluate(right, [element])
    if (rights.length === 0) return false
    if (lefts.length > 1 || rights.length > 1) throw new JsonPathError('can only compare one element at a time')
    return compare(lefts[0]!, operator, rights[0]!)
  })
}

function exists(path: Path, element: Json): boolean {
  try {
    return evaluate(path, [element]).length > 0
  } catch (error) {
    if (error instanceof JsonPathError && !(error instanceof TooManyVisits)) return false
    throw error
  }
}

function kindOf(value: Json): string {
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value
  throw new JsonPathError('invalid type for comparison')
}

/** Texts and numbers have an order. Values of different kinds are not comparable. */
function compare(left: Json, operator: string, right: Json): boolean {
  const kind = kindOf(left)
  if (kind !== kindOf(right)) throw new JsonPathError('incompatible types for comparison')
  if (operator === '==') return left == right
  if (operator === '!=') return left != right
  if (kind === 'boolean') throw new JsonPathError('invalid type for comparison')
  const order =
    typeof left === 'string' && typeof right === 'string' ? compareNames(left, right) : Number(left) - Number(right)
  switch (operator) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
    default:
      throw new JsonPathError(`unrecognized filter operator ${operator}`)
  }
}
