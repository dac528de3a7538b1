/** Validates numbers against a schema like kube-openapi: range, minimum, maximum and multipleOf. */
import { invalidValue } from '../api/field.ts'
import type { JsonObject } from '../api/object.ts'
import { goFloat } from '../go/float.ts'
import { Outcome, combined, invalidAt, problemAt } from './value-outcome.ts'
import type { JsonType } from './value-types.ts'
import { INT64_LIMIT, formatOf, isJsonInteger, typesOf } from './value-types.ts'

const INT32_MAX = 2 ** 31 - 1

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
  inRange(value, 'Checked')
  const isInteger = type === 'integer'
  const multipleOf = schema['multipleOf']
  if (typeof multipleOf === 'number') {
    const whole = inRange(multipleOf, 'MultipleOf') && isInteger
    const factor = whole ? Math.trunc(multipleOf) : multipleOf
    if (factor <= 0) {
      const text = `factor MultipleOf declared for ${place} must be positive: ${goFloat(factor)}`
      outcome.add(problemAt(place, text, (at) => invalidValue(at, factor, text)))
    } else if (!isMultiple(value, factor, whole))
      outcome.add(invalidAt(place, value, `should be a multiple of ${goFloat(factor)}`))
  }
  const minimum = schema['minimum']
  const maximum = schema['maximum']
  if (typeof minimum === 'number') {
    const limit = inRange(minimum, 'Minimum boundary') && isInteger ? Math.trunc(minimum) : minimum
    const exclusive = schema['exclusiveMinimum'] === true
    if (exclusive ? value <= limit : value < limit)
      outcome.add(
        invalidAt(
          place,
          value,
          `should be greater than ${exclusive ? '' : 'or equal to '}${limitText(limit, isInteger)}`,
        ),
      )
  }
  if (typeof maximum === 'number') {
    const limit = inRange(maximum, 'Maximum boundary') && isInteger ? Math.trunc(maximum) : maximum
    const exclusive = schema['exclusiveMaximum'] === true
    if (exclusive ? value >= limit : value > limit)
      outcome.add(
        invalidAt(place, value, `should be less than ${exclusive ? '' : 'or equal to '}${limitText(limit, isInteger)}`),
      )
  }
  outcome.matches++
  return outcome
}

function fitsType(value: number | bigint, type: string, format: string): boolean {
  if (type === 'integer') {
    if (typeof value === 'number' && !isJsonInteger(value)) return false
    if (format === 'int32') return value <= INT32_MAX && value >= -INT32_MAX - 1
    return BigInt(value) < INT64_LIMIT && BigInt(value) >= -INT64_LIMIT
  }
  return format !== 'float' || Number.isFinite(Math.fround(Number(value)))
}

function isMultiple(value: number | bigint, factor: number, whole: boolean): boolean {
  if (whole) return BigInt(value) % BigInt(factor) === 0n
  const number = Number(value)
  return isJsonInteger(factor < 1 ? (1 / factor) * number : number / factor)
}

/** Prints an int64 in full, without an exponent. */
const limitText = (limit: number, isInteger: boolean): string => (isInteger ? BigInt(limit).toString() : goFloat(limit))
