/** Converts the results of patch expressions to JSON. */
import type { Json, JsonObject } from '../api/object.ts'
import { setOwn } from '../base/own.ts'
import { runtimeType, runtimeTypeName } from '../cel/values/runtime-types.ts'
import { durationText, timestampText } from '../cel/values/times.ts'
import type { Value } from '../cel/values/value.ts'
import { Duration, ListValue, MapValue, Optional, Timestamp, Uint } from '../cel/values/value.ts'
import { toBase64 } from '../x509/pem.ts'
import { MadeObject } from './mutation-types.ts'

/** The value has no JSON form, or its JSON is too large. */
export class NoJson extends Error {}

/**
 * The most JSON that a value can become, in characters. An element counts as one. CEL values can share their parts, but
 * JSON repeats them, so it could grow without limit.
 */
const MAX_SIZE = 3 * 1024 * 1024

/** Makes the JSON of values, which have the limit together. */
export class JsonMaker {
  /** The characters so far. */
  size = 0

  /** @param large the form of whole numbers that a double cannot hold: protobuf's JSON writes them as strings */
  constructor(private readonly large: 'text' | 'number') {}

  /** @throws NoJson */
  of(value: Value): Json {
    this.count(1)
    if (value === null || typeof value === 'boolean') return value
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'bigint') return this.whole(value)
    if (value instanceof Uint) return this.whole(value.value)
    if (value instanceof Optional) return this.optional(value)
    if (typeof value === 'number') {
      if (Number.isFinite(value)) return value
      throw new NoJson(`no JSON value for ${value}`)
    }
    if (value instanceof Uint8Array) return this.text(toBase64(value))
    if (value instanceof Timestamp) return timestampText(value)
    if (value instanceof Duration) return durationText(value)
    if (value instanceof ListValue) return Array.from({ length: value.size }, (_, at) => this.of(value.at(at)))
    if (value instanceof MapValue) return this.object([...value.keys()].map((key) => [keyOf(key), value.get(key)!]))
    if (value instanceof MadeObject && value.type.name !== 'JSONPatch') return this.object(value.fields)
    throw new NoJson(`type conversion error from '${shortName(value)}' to '*structpb.Value'`)
  }

  private optional({ value }: Optional): Json {
    if (value !== undefined) return this.of(value)
    if (this.large === 'number') return null
    throw new NoJson('optional.none() dereference')
  }

  private whole(value: bigint): Json {
    if (Number.isSafeInteger(Number(value))) return Number(value)
    return this.large === 'text' ? String(value) : value
  }

  private object(members: Iterable<readonly [name: string, value: Value]>): JsonObject {
    const object: JsonObject = {}
    for (const [name, value] of members) setOwn(object, this.text(name), this.of(value))
    return object
  }

  private text(text: string): string {
    this.count(text.length)
    return text
  }

  private count(size: number): void {
    this.size += size
    if (this.size > MAX_SIZE) throw new NoJson(`the value is too large: it may have ${MAX_SIZE} characters`)
  }
}

function keyOf(key: Value): string {
  if (typeof key === 'string') return key
  throw new NoJson(`unsupported type conversion from '${runtimeTypeName(runtimeType(key))}' to string`)
}

/** The name of the type without its package: `Quantity` for `kubernetes.Quantity`. */
const shortName = (value: Value): string => runtimeTypeName(runtimeType(value)).replace(/^.*\./, '')
