/** Validates numbers against a schema like kube-openapi: range, minimum, maximum and multipleOf. */
import { invalidValueText, valueText } from '../api/field.ts'
import type { JsonObject } from '../api/object.ts'
import { goFloat } from '../go/float.ts'
import type { Problem } from './value-outcome.ts'
import { Outcome, combined, problemAt } from './value-outcome.ts'
import type { JsonType } from './value-types.ts'
import { INT64_LIMIT, formatOf, isJsonInteger, typesOf } from './value-types.ts'

const INT32_MAX = 2 ** 31 - 1

/** A value and a limit of the schema as Go compares them: two int64 or two float64. */
interface Pair {
  readonly value: number | bigint
  readonly limit: number | bigint
  /** The value in messages. */
  readonly shown: string
}

export function checkNumber(schema: JsonObject, value: number | bigint, type: JsonType, place: string): Outcome {
  const outcome = new Outcome()
  const types = typesOf(schema)
  const typeName = types.length === 1 && (types[0] === 'integer' || types[0] === 'number') ? types[0] : ''
  const format = typeName === '' ? '' : formatOf(schema)
  const inRange = (number: number | bigint, prefix: string): boolean => {
    if (fitsType(number, typeName, format)) return true
    const suffix = format === '' ? '(default format)' : `with format ${format}`
    outcome.add(combined(`${prefix} value must be of type ${typeName} ${suffix} in ${place}`))
    return false
  }
  /** Go compares an integer with a limit of another type as a float64. */
  const pairWith = (keyword: 'multipleOf' | 'minimum' | 'maximum', name: string): Pair | undefined => {
    const limit = numberOf(schema[keyword])
    if (limit === undefined) return undefined
    if (!inRange(limit, name)) return { value: Number(value), limit, shown: goFloat(Number(value)) }
    if (type !== 'integer') return { value, limit, shown: valueText(value) }
    return { value: BigInt(value), limit: toInt64(limit), shown: valueText(value) }
  }
  const invalid = (shown: string, what: string): Problem => {
    const text = `${place} in body ${what}`
    return problemAt(place, text, (at) => invalidValueText(at, shown, text))
  }
  inRange(value, 'Checked')
  const multiple = pairWith('multipleOf', 'MultipleOf')
  if (multiple !== undefined) {
    const factor = limitText(multiple.limit)
    if (multiple.limit <= 0) {
      const text = `factor MultipleOf declared for ${place} must be positive: ${factor}`
      outcome.add(problemAt(place, text, (at) => invalidValueText(at, factor, text)))
    } else if (!isMultiple(multiple)) outcome.add(invalid(multiple.shown, `should be a multiple of ${factor}`))
  }
  const least = pairWith('minimum', 'Minimum boundary')
  if (least !== undefined) {
    const exclusive = schema['exclusiveMinimum'] === true
    if (exclusive ? least.value <= least.limit : least.value < least.limit)
      outcome.add(
        invalid(least.shown, `should be greater than ${exclusive ? '' : 'or equal to '}${limitText(least.limit)}`),
      )
  }
  const most = pairWith('maximum', 'Maximum boundary')
  if (most !== undefined) {
    const exclusive = schema['exclusiveMaximum'] === true
    if (exclusive ? most.value >= most.limit : most.value > most.limit)
      outcome.add(invalid(most.shown, `should be less than ${exclusive ? '' : 'or equal to '}${limitText(most.limit)}`))
  }
  outcome.matches++
  return outcome
}

/** Limits are float64. */
const numberOf = (limit: unknown): number | undefined =>
  typeof limit === 'number' || typeof limit === 'bigint' ? Number(limit) : undefined

/** Go's conversion of a float64 on amd64: what does not fit becomes the least int64. */
function toInt64(value: number): bigint {
  const whole = BigInt(Math.trunc(value))
  return whole < INT64_LIMIT && whole >= -INT64_LIMIT ? whole : -INT64_LIMIT
}

function fitsType(value: number | bigint, type: string, format: string): boolean {
  if (type === 'integer') {
    if (typeof value === 'number' && !Number.isInteger(value)) return false
    if (format === 'int32') return value <= INT32_MAX && value >= -INT32_MAX - 1
    // Go reads the shortest digits of a float64, and those of -2^63 do not fit
    if (typeof value === 'number') return Math.abs(value) < Number(INT64_LIMIT)
    return value < INT64_LIMIT && value >= -INT64_LIMIT
  }
  return format !== 'float' || Number.isFinite(Math.fround(Number(value)))
}

function isMultiple({ value, limit }: Pair): boolean {
  if (typeof value === 'bigint' && typeof limit === 'bigint') return value % limit === 0n
  const number = Number(value)
  const factor = Number(limit)
  return isJsonInteger(factor < 1 ? (1 / factor) * number : number / factor)
}

/** Prints an int64 in full, without an exponent. */
const limitText = (limit: number | bigint): string => (typeof limit === 'bigint' ? limit.toString() : goFloat(limit))
