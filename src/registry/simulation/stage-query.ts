/**
 * The part of jq that KWOK's Stages use to select values of an object: paths (`.status.conditions[].type`,
 * `.metadata.annotations["a/b"]`), select() with comparisons, and pipes between them.
 */
import type { Json, JsonObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import type { Budget } from '../../base/budget.ts'
import { ownValue } from '../../base/own.ts'

/** The expression is invalid, or uses a part of jq that is not implemented. */
export class QueryError extends Error {}

/** The evaluation visits more values than its bound allows. `?` does not suppress this error. */
class TooMuch extends QueryError {}

/**
 * Returns the results without nulls. Undefined if jq would fail.
 * @param budget counts the values that are visited; several expressions may share it
 */
export type Query = (value: Json, budget: Budget) => readonly Json[] | undefined

type Filter = (value: Json) => readonly Json[]

const LONGEST = 2048
const DEEPEST = 16
/** The number of values that one evaluation of an expression may visit. */
const MOST_VALUES = 100_000

/**
 * The remaining values of the current evaluation. An evaluation sets it at its start and is synchronous, so no other
 * one changes it.
 */
let left = 0

const TOKEN = /\s+|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|[A-Za-z_]\w*|==|!=|<=|>=|[.[\]()|<>?]/y // pattern: alternatives begin with other characters

/** @throws QueryError */
export function parseQuery(text: string): Query {
  if (text.length > LONGEST) throw new QueryError(`more than ${LONGEST} characters`)
  const reader = new QueryReader(tokensOf(text))
  const filter = reader.whole()
  return (value, budget) => {
    const most = Math.min(MOST_VALUES, budget.limit - budget.spent)
    left = most
    try {
      return filter(value).filter((found) => found !== null)
    } catch (error) {
      if (error instanceof QueryError) return undefined
      throw error
    } finally {
      budget.spend(most - left)
    }
  }
}

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex
    const [token] = TOKEN.exec(text) ?? []
    if (token === undefined) throw new QueryError(`${JSON.stringify(text.slice(at, at + 10))} is not supported`)
    if (token.trim() !== '') tokens.push(token)
  }
  return tokens
}

class QueryReader {
  private at = 0

  constructor(private readonly tokens: readonly string[]) {}

  whole(): Filter {
    const filter = this.pipe(0)
    if (this.at < this.tokens.length)
      throw new QueryError(`${JSON.stringify(this.tokens[this.at])} is not supported here`)
    return filter
  }

  private pipe(depth: number): Filter {
    if (depth > DEEPEST) throw new QueryError(`more than ${DEEPEST} parentheses`)
    let filter = this.either(depth)
    while (this.takes('|')) {
      const [before, then] = [filter, this.either(depth)]
      filter = (value) => flat(before(value), then)
    }
    return filter
  }

  private either(depth: number): Filter {
    let filter = this.both(depth)
    while (this.takes('or')) filter = logical(filter, this.both(depth), true)
    return filter
  }

  private both(depth: number): Filter {
    let filter = this.comparison(depth)
    while (this.takes('and')) filter = logical(filter, this.comparison(depth), false)
    return filter
  }

  private comparison(depth: number): Filter {
    const first = this.term(depth)
    const operator = this.tokens[this.at] ?? ''
    const compare = comparisons.get(operator)
    if (compare === undefined) return first
    this.at++
    const second = this.term(depth)
    return (value) => flat(first(value), (a) => flat(second(value), (b) => [compare(a, b)]))
  }

  private term(depth: number): Filter {
    const token = this.tokens[this.at] ?? ''
    if (token === '.') return this.path()
    this.at++
    if (token === '(') return this.closed(depth)
    if (token === 'select') {
      if (!this.takes('(')) throw new QueryError('select wants a condition in parentheses')
      const condition = this.closed(depth)
      return (value) => (condition(value).some(isTruth) ? [value] : [])
    }
    if (token === 'not') return (value) => [!isTruth(value)]
    if (token === 'true' || token === 'false') return () => [token === 'true']
    if (token === 'null') return () => [null]
    if (token.startsWith('"')) return constant(textOf(token))
    if (/^-?\d/.test(token)) return constant(Number(token))
    throw new QueryError(token === '' ? 'it ends too early' : `${JSON.stringify(token)} is not supported`)
  }

  private closed(depth: number): Filter {
    const filter = this.pipe(depth + 1)
    if (!this.takes(')')) throw new QueryError('a parenthesis is not closed')
    return filter
  }

  /**
   * Parses `.` and the steps after it: `.name`, `."name"`, `["name"]`, `[0]`, `[]`. Each step may have a dot before it
   * and `?` after it.
   */
  private path(): Filter {
    const steps: Filter[] = []
    while (this.tokens[this.at] === '.' || this.tokens[this.at] === '[') {
      const isDot = this.takes('.')
      const next = this.tokens[this.at] ?? ''
      if (isDot && /^[A-Za-z_]/.test(next) && !RESERVED.has(next)) steps.push(member(this.tokens[this.at++]!))
      else if (isDot && next.startsWith('"')) steps.push(member(textOf(this.tokens[this.at++]!)))
      else if (this.takes('[')) steps.push(this.bracket())
      else if (isDot && steps.length > 0) throw new QueryError('a path ends with a dot')
      else break
      if (this.takes('?')) steps.push(forgiving(steps.pop()!))
    }
    return (value) => steps.reduce<readonly Json[]>((found, step) => flat(found, step), [value])
  }

  private bracket(): Filter {
    if (this.takes(']')) return each
    const token = this.tokens[this.at++] ?? ''
    if (!this.takes(']')) throw new QueryError('a bracket is not closed')
    if (token.startsWith('"')) return member(textOf(token))
    if (/^-?\d+$/.test(token)) return element(Number(token))
    throw new QueryError(`${JSON.stringify(`[${token}]`)} is not supported`)
  }

  private takes(token: string): boolean {
    if (this.tokens[this.at] !== token) return false
    this.at++
    return true
  }
}

/** After a path that is only a dot, these words are operators, not members. */
const RESERVED: ReadonlySet<string> = new Set(['and', 'or', 'not'])

function textOf(token: string): string {
  try {
    return JSON.parse(token) as string // the token is a JSON string
  } catch {
    throw new QueryError(`the text ${token} has an escape that is not known`)
  }
}

/** Applies the filter to each value. All evaluation goes through here, so one counter bounds it. @throws QueryError */
function flat(values: readonly Json[], filter: Filter): Json[] {
  const found: Json[] = []
  for (const value of values) {
    const more = filter(value)
    left -= 1 + more.length
    if (left < 0) throw new TooMuch(`more than ${MOST_VALUES} values`)
    for (const one of more) found.push(one)
  }
  return found
}

const constant = (value: Json): Filter => {
  const values = [value]
  return () => values
}

const isTruth = (value: Json): boolean => value !== null && value !== false

const logical =
  (before: Filter, then: Filter, decides: boolean): Filter =>
  (value) =>
    flat(before(value), (a) => (isTruth(a) === decides ? [decides] : flat(then(value), (b) => [isTruth(b)])))

const member =
  (name: string): Filter =>
  (value) => {
    if (value === null) return [null]
    if (!isJsonObject(value)) throw new QueryError(`no member ${name}`)
    return [ownValue(value as JsonObject, name) ?? null]
  }

const element =
  (index: number): Filter =>
  (value) => {
    if (value === null) return [null]
    if (!Array.isArray(value)) throw new QueryError('no list')
    return [value.at(index) ?? null]
  }

const each: Filter = (value) => {
  if (Array.isArray(value)) return value
  if (value !== null && isJsonObject(value)) return Object.values(value).map((one) => one ?? null)
  throw new QueryError('nothing to iterate over')
}

/** Implements `?`: a filter that fails has no results. */
const forgiving =
  (filter: Filter): Filter =>
  (value) => {
    try {
      return filter(value)
    } catch (error) {
      if (error instanceof QueryError && !(error instanceof TooMuch)) return []
      throw error
    }
  }

const order = (compare: (a: number | string, b: number | string) => boolean) => (a: Json, b: Json) => {
  if (typeof a === 'number' && typeof b === 'number') return compare(a, b)
  if (typeof a === 'string' && typeof b === 'string') return compare(a, b)
  throw new QueryError('two numbers or two texts are compared')
}

const comparisons: ReadonlyMap<string, (a: Json, b: Json) => boolean> = new Map<string, (a: Json, b: Json) => boolean>([
  ['==', (a, b) => a === b],
  ['!=', (a, b) => a !== b],
  ['<', order((a, b) => a < b)],
  ['<=', order((a, b) => a <= b)],
  ['>', order((a, b) => a > b)],
  ['>=', order((a, b) => a >= b)],
])
