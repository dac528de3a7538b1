/**
 * JSONPath as client-go understands it (util/jsonpath), for the columns of custom resources: `.spec.x`, `['a']`,
 * `[0]`, `[1:3]`, `[*]`, `..x`, `[?(@.a=="b")]`, unions. What is missing is no result; what can't be done is an error.
 */
import { trimmedOf } from '../../api/trim.ts'
import { append } from '../../api/append.ts'
import type { Json } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue } from '../../api/own.ts'
import { isDigit, isLetter } from '../../api/unicode.ts'
import { compareNames } from '../../api/name-order.ts'

/** Go's %#U. */
const codeText = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')} '${character}'`

export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}

type Node =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'field'; readonly name: string }
  | {
      readonly kind: 'slice'
      readonly from?: number
      readonly to?: number
      readonly derived: boolean
      readonly step?: number
    }
  | { readonly kind: 'filter'; readonly left: Path; readonly operator: string; readonly right: Path }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  | { readonly kind: 'union'; readonly paths: readonly Path[] }
  | { readonly kind: 'identifier'; readonly name: string }

type Path = readonly Node[]

/** A template: text and expressions in braces, one after the other. */
export interface JsonPath {
  readonly parts: readonly Path[]
}

/** @throws {JsonPathError} */
export function parseJsonPath(template: string): JsonPath {
  return { parts: new Parser(template).template() }
}

/** Values that may be visited: `..a..a` and `['a','a']['a','a']` multiply what they find. */
export interface Visits {
  left: number
}

/** More than one expression comes to that goes once through all of the largest object. */
const MOST_VISITS = 1_000_000

/** More was to be visited than may be. */
class TooManyVisits extends JsonPathError {
  constructor() {
    super('it finds too much')
  }
}

/** Of the evaluation that is under way. */
let visits: Visits = { left: 0 }

function visit(values: number): void {
  visits.left -= values
  if (visits.left < 0) throw new TooManyVisits()
}

/**
 * What the first expression finds.
 * @param most shared by several templates, which then visit no more together
 * @throws {JsonPathError} when one of the expressions can't be evaluated
 */
export function firstResults({ parts }: JsonPath, root: Json, most: Visits = { left: MOST_VISITS }): readonly Json[] {
  visits = most
  const [first = []] = parts.map((path) => evaluate(path, [root]))
  return first
}

/** Whether it may come to many values of an object: else it goes one way. */
export const looksAround = ({ parts }: JsonPath): boolean => parts.some((path) => path.some(isManyfold))

const isManyfold = (node: Node): boolean =>
  node.kind === 'wildcard' ||
  node.kind === 'recursive' ||
  node.kind === 'filter' ||
  node.kind === 'union' ||
  (node.kind === 'slice' && !node.derived)

const isLetterOrDigit = (character: string): boolean => character === '_' || isLetter(character) || isDigit(character)
/** '' stands for the end of the text. */
const isTerminator = (character: string): boolean => character === '' || ' \t\r\n.,[]$@{}'.includes(character)

class Parser {
  private at = 0
  private readonly text: readonly string[]

  constructor(text: string) {
    this.text = [...text]
  }

  template(): Path[] {
    const parts: Path[] = []
    let plain = ''
    while (this.peek() !== '') {
      if (this.peek() !== '{') plain += this.next()
      else {
        if (plain !== '') parts.push([{ kind: 'literal', value: plain }])
        plain = ''
        this.at++
        parts.push(this.action())
      }
    }
    if (plain !== '') parts.push([{ kind: 'literal', value: plain }])
    return parts
  }

  private peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? ''
  }

  private next(): string {
    return this.text[this.at++] ?? ''
  }

  private sees(text: string): boolean {
    return [...text].every((character, index) => this.peek(index) === character)
  }

  private action(): Path {
    const path: Node[] = []
    for (;;) {
      if (this.sees('}')) {
        this.at++
        return path
      }
      if (this.sees('[?(')) path.push(this.filter())
      else if (this.sees('..')) {
        if (path.at(-1)?.kind === 'recursive') throw new JsonPathError('invalid multiple recursive descent')
        this.at += 2
        path.push({ kind: 'recursive' })
        if (isLetterOrDigit(this.peek())) path.push(this.field())
      } else this.step(path)
    }
  }

  private step(path: Node[]): void {
    const character = this.next()
    if (character === '' || character === '\n' || character === '\r') throw new JsonPathError('unclosed action')
    if (character === ' ' || character === '@' || character === '$') return
    if (character === '[') append(path, this.array())
    else if (character === '"' || character === "'") path.push({ kind: 'literal', value: this.quoted(character) })
    else if (character === '.') path.push(this.field())
    else if (character === '+' || character === '-' || isDigit(character)) {
      this.at--
      path.push({ kind: 'literal', value: this.number() })
    } else if (isLetterOrDigit(character)) {
      this.at--
      path.push(this.identifier())
    } else throw new JsonPathError(`unrecognized character in action: ${codeText(character)}`)
  }

  private identifier(): Node {
    let name = ''
    while (!isTerminator(this.peek())) name += this.next()
    return name === 'true' || name === 'false'
      ? { kind: 'literal', value: name === 'true' }
      : { kind: 'identifier', name }
  }

  private field(): Node {
    let name = ''
    while (!isTerminator(this.peek())) {
      const character = this.next()
      name += character === '\\' ? this.next() : character
    }
    return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') }
  }

  private number(): number {
    let text = ''
    if (this.peek() === '+' || this.peek() === '-') text += this.next()
    while (this.peek() === '.' || isDigit(this.peek())) text += this.next()
    if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text)) throw new JsonPathError(`cannot parse number ${text}`)
    return Number(text)
  }

  private array(): Node[] {
    let text = ''
    for (;;) {
      const character = this.next()
      if (character === '' || character === '\n') throw new JsonPathError('unterminated array')
      if (character === ']') break
      text += character
    }
    if (text === '*') text = ':'
    const members = text.split(',')
    if (members.length > 1)
      return [{ kind: 'union', paths: members.map((member) => expression(`[${trimmedOf(member, ' ')}]`)) }]
    const key = /^'([^']*)'$/.exec(text)
    return key === null ? [slice(text)] : [...expression(`.${key[1]!}`)]
  }

  private filter(): Node {
    this.at += '[?('.length
    let text = ''
    let quote: string | undefined
    let closed = false
    for (;;) {
      const character = this.next()
      if (character === '' || character === '\n') throw new JsonPathError('unterminated filter')
      if (character === '"' || character === "'") {
        if (quote === undefined) quote = character
        else if (character === quote && !text.endsWith('\\')) closed = true
      }
      if (character === ')' && (quote === undefined || closed)) break
      text += character
    }
    if (this.next() !== ']') throw new JsonPathError('unclosed array expect ]')
    // pattern: whatever stands behind an operator matches, so that nothing is tried twice
    const parts = /^([^!<>=]+)([!<>=]+)(.+?)$/s.exec(text)
    if (parts === null) return { kind: 'filter', left: expression(text), operator: 'exists', right: [] }
    const [, left = '', operator = '', right = ''] = parts
    return { kind: 'filter', left: expression(left), operator, right: expression(right) }
  }

  private quoted(quote: string): string {
    let text = ''
    for (;;) {
      const character = this.next()
      if (character === '' || character === '\n') throw new JsonPathError('unterminated quoted string')
      if (character === quote && !text.endsWith('\\')) return unescape(text)
      text += character
    }
  }
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

function unescape(text: string): string {
  return text.replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\s\S])|$)/g, (_, byte, unit, other) => {
    const code: string | undefined = byte ?? unit
    if (code !== undefined) return String.fromCharCode(parseInt(code, 16))
    const known = ownValue(escapes, String(other))
    if (known === undefined) throw new JsonPathError('invalid syntax')
    return known
  })
}

/** The first expression in braces of a text. The others are ignored. */
const expression = (text: string): Path => new Parser(`{${text}}`).template()[0] ?? []

function slice(text: string): Node {
  const parts = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text)
  if (parts === null) throw new JsonPathError(`invalid array index ${text}`)
  const [, first = '', second, third] = parts
  const from = index(first)
  const step = third === undefined ? undefined : index(third.slice(1))
  const rest = { ...(from === undefined ? {} : { from }), ...(step === undefined ? {} : { step }) }
  if (second === undefined) return { kind: 'slice', ...rest, to: (from ?? 0) + 1, derived: true }
  const to = index(second.slice(1))
  return { kind: 'slice', ...rest, ...(to === undefined ? {} : { to }), derived: false }
}

function index(text: string): number | undefined {
  if (text === '') return undefined
  if (text === '-') throw new JsonPathError('array index - is not a number')
  return Number(text)
}

function evaluate(path: Path, input: readonly Json[]): readonly Json[] {
  return path.reduce((values, node) => step(node, values), input)
}

function step(node: Node, input: readonly Json[]): readonly Json[] {
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
    // an empty slice: results of other lists are dropped, too
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

/** The value and all below it that have something below them. */
function descendants(value: Json, found: Json[] = []): Json[] {
  visit(1)
  // below a text are numbers, which have nothing below them
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

/** Text and numbers have an order; values of different kinds can't be compared. */
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
