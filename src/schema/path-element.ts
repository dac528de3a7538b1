/**
 * An element of a path: a field (`f:name`), or an element of a list by its keys (`k:{"name":"x"}`), its value (`v:1`)
 * or its index (`i:0`). It has the canonical spelling of FieldsV1, so that equal elements are equal strings.
 */
import { BoundedMap } from '../base/bounded-map.ts'
import { goQuote } from '../go/quote.ts'
import { goValue } from '../go/value.ts'
import { parseStored } from '../json/parse-json.ts'
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isListing, sortedItems } from '../base/parts.ts'
import { compareText, compareValues } from '../json/value-order.ts'

export type PathElement = string
export type FieldPathElements = readonly PathElement[]

export const fieldElement = (name: string): PathElement => `f:${name}`
export const valueElement = (value: Json): PathElement => `v:${elementJson(value)}`
export const keyElement = (fields: readonly (readonly [name: string, value: Json])[]): PathElement =>
  `k:{${[...fields]
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, value]) => `${elementJson(name)}:${elementJson(value)}`)
    .join(',')}}`

/** A parsed element. `value` is its key or value, and null for a field or an index. */
export interface ReadElement {
  readonly element: PathElement
  readonly value: Json
}

/** Parses an element and gives it the canonical spelling. @returns undefined for an unknown kind of element */
export function readPathElement(text: string): ReadElement | undefined {
  if (text.length < 2) throw new Error('key must be 2 characters long:')
  if (text.charAt(1) !== ':') throw new Error(`missing colon: ${text}`)
  switch (text.charAt(0)) {
    case 'f':
      return { element: text, value: null }
    case 'v':
    case 'k':
      return recent.getOrMake(text, () => parse(text))
    case 'i': {
      return { element: `i:${integerText(text.slice(2))}`, value: null }
    }
    default:
      return undefined
  }
}

/** Elements that were parsed last: every write of an object parses the same few elements again. */
const recent = new BoundedMap<string, ReadElement>({ entries: 1_000, size: 256 * 1024, sizeOf: ({ length }) => length })

/** The canonical text of an int64. @throws Error where it is none */
function integerText(text: string): string {
  const [, sign, written = ''] = /^([+-]?)(\d+)$/.exec(text) ?? []
  if (sign === undefined) throw new Error(`strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`)
  let zeros = 0
  while (written[zeros] === '0' && zeros < written.length - 1) zeros++
  const digits = written.slice(zeros)
  const value = digits.length > MOST_DIGITS ? undefined : BigInt(`${sign === '-' ? '-' : ''}${digits}`)
  if (value === undefined || BigInt.asIntN(64, value) !== value)
    throw new Error(`strconv.Atoi: parsing ${goQuote(text)}: value out of range`)
  return String(value)
}

const MOST_DIGITS = 19

/** Numbers that are too large for a float64 are not JSON again when they are written. */
const finite = (_name: string, value: unknown): unknown => {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('value out of range')
  return value
}

/** Signs that a number beyond a float64 has: an exponent, or hundreds of digits. */
const MAY_BE_BEYOND = /\d[eE]|\d{300}/

function parse(text: string): ReadElement {
  const json = text.slice(2)
  const value = JSON.parse(json, MAY_BE_BEYOND.test(json) ? finite : undefined) as Json
  if (text.charAt(0) === 'v') return { element: valueElement(value), value }
  if (!isJsonObject(value)) throw new Error('expected { or n')
  const fields = Object.entries(value).sort(([a], [b]) => compareText(a, b))
  return { element: keyElement(fields.map(([name, of]) => [name, of ?? null])), value: Object.fromEntries(fields) }
}

/** `.spec.containers[name="c"].image`, as messages name a field. */
export const pathText = (path: FieldPathElements): string => path.map(elementText).join('')

export function elementText(element: PathElement): string {
  const content = element.slice(2)
  switch (element.charAt(0)) {
    case 'f':
      return `.${content}`
    case 'k':
      return `[${Object.entries(parseStored(content) as JsonObject)
        .map(([name, value]) => `${name}=${valueText(value ?? null)}`)
        .join(',')}]`
    case 'v':
      return `[=${valueText(parseStored(content))}]`
    default:
      return `[${content}]`
  }
}

function valueText(value: Json): string {
  if (typeof value === 'string') return goQuote(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`
  if (isJsonObject(value))
    return Object.entries(value)
      .map(([name, item]) => `${name}=${valueText(item ?? null)}`)
      .join('')
  return value === null ? 'null' : goValue(value)
}

const kinds = 'fkvi'

/** Sorts elements by `compareElements` and parses each once. It sorts many elements in parts (base/parts.ts). */
export function sortedPathElements(list: () => PathElement[]): PathElement[] {
  if (isListing()) return sortedItems(list, sortedRun, compareElements).map(({ element }) => element)
  const elements = list()
  if (elements.every((element) => element.startsWith('f:'))) return elements.sort(compareText)
  return sortedRun(elements).map(({ element }) => element)
}

const sortedRun = (elements: readonly PathElement[]): ReadElement[] =>
  elements
    .map((element) => ({ element, value: hasValue(element) ? (JSON.parse(element.slice(2)) as Json) : null }))
    .sort(compareElements)

const hasValue = (element: PathElement): boolean => element.startsWith('v:') || element.startsWith('k:')

export function compareElements(a: ReadElement, b: ReadElement): number {
  const kind = a.element.charAt(0)
  const order = kinds.indexOf(kind) - kinds.indexOf(b.element.charAt(0))
  if (order !== 0) return order
  if (a.element === b.element) return 0
  switch (kind) {
    case 'f':
      return compareText(a.element, b.element)
    case 'i':
      return Number(a.element.slice(2)) - Number(b.element.slice(2))
    case 'v':
      return compareValues(a.value, b.value)
    default:
      return compareKeys(a.value as JsonObject, b.value as JsonObject) // keys are objects
  }
}

function compareKeys(a: JsonObject, b: JsonObject): number {
  const ours = Object.entries(a)
  const theirs = Object.entries(b)
  for (const [at, [name, value]] of ours.entries()) {
    const other = theirs[at]
    if (other === undefined) return 1
    const order = compareText(name, other[0]) || compareValues(value ?? null, other[1] ?? null)
    if (order !== 0) return order
  }
  return ours.length - theirs.length
}

/** JSON with the escapes of Go's encoder. */
const elementJson = (value: Json): string =>
  (typeof value === 'bigint' ? String(value) : JSON.stringify(value)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
