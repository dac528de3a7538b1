/** Formats values like Go's fmt package, for messages that quote a part of a patch. */
import { goFloat } from './float.ts'
import { goQuote } from './quote.ts'
import { RepeatedMembers } from '../json/json.ts'
import { NumberLiteral } from '../json/numbers.ts'
import { sortNames, sortedKeys } from '../base/name-order.ts'
import { ownValue } from '../base/own.ts'
import { kept, mapNames, mapParts } from '../base/parts.ts'
import type { JsonTree } from '../json/json.ts'

/** `%v`: `map[a:1 b:[x y]]`, strings without quotes, `<nil>`. It can run as a walk in parts (base/parts.ts). */
export function goValue(value: JsonTree | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${mapParts(value, goValue).join(' ')}]`
  if (typeof value !== 'object' || value instanceof NumberLiteral) return scalarText(value)
  const members = value instanceof RepeatedMembers ? kept(value, () => Object.fromEntries(value.entries)) : value
  return `map[${mapNames(members, sortedKeys, (name) => `${name}:${goValue(ownValue(members, name))}`).join(' ')}]`
}

/** `%#v`: the value in Go syntax. */
export function goSyntax(value: JsonTree | undefined): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return goQuote(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (typeof value !== 'object' || value instanceof NumberLiteral) return scalarText(value)
  return `map[string]interface {}{${membersOf(value)
    .map(([name, item]) => `${goQuote(name)}:${goSyntax(item)}`)
    .join(', ')}}`
}

/** `%T` of a decoded JSON value. A number without a fraction or an exponent is int64. */
export function goType(value: JsonTree | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int64'
    case 'number':
      return isInt64(value) ? 'int64' : 'float64'
    default:
      return value instanceof NumberLiteral ? 'float64' : 'map[string]interface {}'
  }
}

/** reflect.Kind of a decoded JSON value. */
export function goKind(value: JsonTree): string {
  const type = goType(value)
  return type.startsWith('map') ? 'map' : type.startsWith('[]') ? 'slice' : type
}

/** `%s`: Go marks values that are no strings, also inside of lists and maps. A null inside of them is not marked. */
export const goString = (value: JsonTree): string => (value === null ? '%!s(<nil>)' : stringInside(value))

function stringInside(value: JsonTree | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(stringInside).join(' ')}]`
  if (typeof value === 'object' && !(value instanceof NumberLiteral))
    return `map[${membersOf(value)
      .map(([name, item]) => `${name}:${stringInside(item)}`)
      .join(' ')}]`
  return typeof value === 'string' ? value : `%!s(${goType(value)}=${goValue(value)})`
}

/** A larger whole number of 64 bits is a bigint, so that a larger number is a float. */
const isInt64 = (value: number): boolean => Number.isSafeInteger(value)

const scalarText = (value: string | number | bigint | boolean | NumberLiteral): string =>
  value instanceof NumberLiteral
    ? goFloat(Number(value.text))
    : typeof value === 'number' && !isInt64(value)
      ? goFloat(value)
      : String(value)

interface Members {
  [name: string]: JsonTree | undefined
}

const membersOf = (map: RepeatedMembers | Members): [string, JsonTree | undefined][] => {
  const members = map instanceof RepeatedMembers ? new Map(map.entries) : undefined
  const names = sortNames(members ? [...members.keys()] : Object.keys(map))
  return names.map((name) => [name, members ? members.get(name) : ownValue(map as Members, name)])
}
