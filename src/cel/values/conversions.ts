/** Type conversions such as `int(x)` and `string(x)`. Each returns the converted value or an error. */
import { goFloat } from '../../go/float.ts'
import { digitsOf, MAX_DIGITS } from '../../go/int.ts'
import { checkedInt, checkedUint, MAX_INT, MAX_UINT, MIN_INT } from './numbers.ts'
import { runtimeType, runtimeTypeName } from './runtime-types.ts'
import {
  durationText,
  inRange,
  MAX_TIME,
  MIN_TIME,
  parseDuration,
  parseTimestamp,
  timestampOverflow,
  timestampText,
} from './times.ts'
import type { Value } from './value.ts'
import { CelError, Duration, Timestamp, Uint } from './value.ts'

const failed = (value: Value, target: string): CelError =>
  new CelError(`type conversion error from '${runtimeTypeName(runtimeType(value))}' to '${target}'`)

export function toInt(value: Value): Value {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return doubleToInt(value)
  if (value instanceof Uint) return checkedInt(value.value)
  if (value instanceof Timestamp) return value.seconds
  if (value instanceof Duration) return value.nanos
  if (typeof value === 'string') return parsedWhole(value, /^[+-]?\d+$/, MIN_INT, MAX_INT) ?? failed(value, 'int')
  return failed(value, 'int')
}

function doubleToInt(value: number): Value {
  if (Number.isNaN(value) || value <= -(2 ** 63) || value >= 2 ** 63) return new CelError('integer overflow')
  return BigInt(Math.trunc(value))
}

function parsedWhole(text: string, form: RegExp, min: bigint, max: bigint): bigint | undefined {
  if (!form.test(text)) return undefined
  if (digitsOf(text) > MAX_DIGITS) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return value < min || value > max ? undefined : value
}

export function toUint(value: Value): Value {
  if (value instanceof Uint) return value
  if (typeof value === 'bigint') return checkedUint(value)
  if (typeof value === 'number') {
    if (Number.isNaN(value) || value < 0 || value >= 2 ** 64) return new CelError('unsigned integer overflow')
    return new Uint(BigInt(Math.trunc(value)))
  }
  if (typeof value === 'string') {
    const whole = parsedWhole(value, /^\d+$/, 0n, MAX_UINT)
    return whole === undefined ? failed(value, 'uint') : new Uint(whole)
  }
  return failed(value, 'uint')
}

export function toDouble(value: Value): Value {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Uint) return Number(value.value)
  if (typeof value === 'string') return parsedDouble(value) ?? failed(value, 'double')
  return failed(value, 'double')
}

/** Go's strconv.ParseFloat without underscores. A number that is too large is refused. */
function parsedDouble(text: string): number | undefined {
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text)
  if (special) return special[2] === undefined ? NaN : special[1] === '-' ? -Infinity : Infinity
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) {
    const value = Number(text)
    return Number.isFinite(value) ? value : undefined
  }
  return hexadecimalDouble(text)
}

/** A hexadecimal float such as `0x1.8p3`. The exponent is a power of two. */
function hexadecimalDouble(text: string): number | undefined {
  const parts = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d{1,6})$/.exec(text)
  if (parts === null) return undefined
  const [, , whole = '', fraction = ''] = parts
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(`0x${whole}${fraction}`)
  const value = Number(digits) * 2 ** (Number(parts[4]) - 4 * fraction.length)
  return Number.isFinite(value) ? (parts[1] === '-' ? -value : value) : undefined
}

export function toText(value: Value): Value {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'number':
      return goFloat(value)
  }
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof Duration) return durationText(value)
  if (value instanceof Uint8Array) return decodedText(value)
  return failed(value, 'string')
}

function decodedText(bytes: Uint8Array): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

export function toBytes(value: Value): Value {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string') return new TextEncoder().encode(value)
  return failed(value, 'bytes')
}

const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const falseTexts: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

export function toBool(value: Value): Value {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' && trueTexts.has(value)) return true
  if (typeof value === 'string' && falseTexts.has(value)) return false
  return failed(value, 'bool')
}

export function toTimestamp(value: Value): Value {
  if (value instanceof Timestamp) return value
  if (typeof value === 'bigint')
    return value < MIN_TIME || value > MAX_TIME ? timestampOverflow() : new Timestamp(value, 0)
  if (typeof value !== 'string') return failed(value, 'google.protobuf.Timestamp')
  const time = parseTimestamp(value)
  if (time === undefined) return failed(value, 'google.protobuf.Timestamp')
  return inRange(time) ? time : timestampOverflow()
}

/** kube-apiserver also declares `duration(int)`, but the conversion fails at run time. */
export function toDuration(value: Value): Value {
  if (value instanceof Duration) return value
  return (typeof value === 'string' && parseDuration(value)) || failed(value, 'google.protobuf.Duration')
}
