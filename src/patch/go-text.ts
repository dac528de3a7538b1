/** Values as Go's fmt package prints them, in messages that quote a part of a patch. */
import { goQuote } from '../api/field.ts'
import { isJsonObject } from '../api/object.ts'
import type { Json } from '../api/object.ts'
import { compareText } from '../schema/value-order.ts'

/** `%v`: `map[a:1 b:[x y]]`, texts as they are, `<nil>`. */
export function goValue(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`
  if (isJsonObject(value))
    return `map[${entriesOf(value)
      .map(([name, item]) => `${name}:${goValue(item)}`)
      .join(' ')}]`
  return typeof value === 'number' ? goNumber(value) : String(value)
}

/** `%#v`: Go syntax. */
export function goSyntax(value: Json | undefined): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return goQuote(value)
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (isJsonObject(value))
    return `map[string]interface {}{${entriesOf(value)
      .map(([name, item]) => `${goQuote(name)}:${goSyntax(item)}`)
      .join(', ')}}`
  return typeof value === 'number' ? goNumber(value) : String(value)
}

/** `%T` of a decoded JSON value. */
export function goType(value: Json | undefined): string {
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
      return Number.isInteger(value) ? 'int64' : 'float64'
    default:
      return 'map[string]interface {}'
  }
}

/** Go's `%v` of a float64 changes to an exponent of at least two digits outside of 1e-4 … 1e21. */
function goNumber(value: number): string {
  if (Number.isInteger(value) || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e21)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

const entriesOf = (map: { [key: string]: Json | undefined }) =>
  Object.entries(map).sort(([a], [b]) => compareText(a, b))
