import type { Json, JsonObject } from '../../src/api/object.ts'
import type { Structural, StructType } from '../../src/schema/structural.ts'

/** A generator of pseudo-random numbers from 0 to 1, determined by the seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const MAX_DEPTH = 5

/** A random object of a type, such as a client may send: some of the fields, with all sorts of values. */
export function randomObject(type: StructType, random: () => number, depth = 0): JsonObject {
  const object: JsonObject = {}
  for (const field of type.fields)
    if (random() < (depth < 2 ? 0.7 : 0.3)) object[field.name] = randomValue(field.type, random, depth + 1)
  return object
}

const pick = <T>(random: () => number, ...values: T[]): T => values[Math.floor(random() * values.length)]!
const times = <T>(random: () => number, make: () => T): T[] => Array.from({ length: Math.floor(random() * 3) }, make)

function randomValue(type: Structural, random: () => number, depth: number): Json {
  switch (type.shape) {
    case 'leaf':
      switch (type.scalar) {
        case 'string':
          return pick(random, '', 'a', 'é😀', 'x'.repeat(100), '<&>', ' \n"\\')
        case 'bool':
          return random() < 0.5
        case 'bytes':
          return pick(random, '', 'YQ==', 'aGVsbG8=')
        case 'int32':
          return pick(random, 0, 1, -1, 127, 128, 2 ** 31 - 1, -(2 ** 31))
        case 'int64':
          return pick<Json>(random, 0, 1, -1, 300, 2 ** 40, -(2 ** 50), 9223372036854775807n, -9223372036854775808n)
        default:
          return pick(random, 0, 1.5, -0.1, 1e300, 3)
      }
    case 'struct':
      return depth > MAX_DEPTH ? {} : randomObject(type, random, depth)
    case 'list':
      return times(random, () => randomValue(type.element, random, depth))
    case 'map':
      return Object.fromEntries(
        times(random, () => [pick(random, 'a', 'b/c', '10', '9', '__x', 'é'), randomValue(type.value, random, depth)]),
      )
    case 'special':
      switch (type.special) {
        case 'time':
          return pick(random, '2001-06-01T00:00:00Z', '1969-12-31T23:59:59Z', '9999-12-31T23:59:59Z')
        case 'microTime':
          return pick(random, '2001-06-01T00:00:00.000001Z', '1969-12-31T23:59:59.999999Z')
        case 'duration':
          return pick(random, '0s', '1h0m0s', '-1.5s')
        case 'quantity':
          return pick(random, '0', '100m', '1Gi', '1e3', '9223372036854775807')
        case 'intOrString':
          return pick<Json>(random, 0, -5, '25%', '')
        case 'schemaOrBool':
          return depth > MAX_DEPTH || random() < 0.5 ? random() < 0.5 : randomObject(type.of!(), random, depth + 2)
        case 'schemaOrArray':
        case 'schemaOrStringArray':
          return depth > MAX_DEPTH ? {} : randomObject(type.of!(), random, depth + 2)
        default:
          return pick<Json>(random, { a: [1, 'x', null, { b: 1.5 }] }, { '10': 1, '9': 2 }, {})
      }
    case 'untyped':
      return pick<Json>(random, 1, 'x', null)
  }
}
